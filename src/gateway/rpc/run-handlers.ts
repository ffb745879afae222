import { describeAgent } from "../../agents/index.js";
import * as prompts from "../../prompts/index.js";
import type { MethodName } from "../../protocol/index.js";
import * as runs from "../../runs/index.js";
import { defaultAgent } from "../../threads/index.js";
import type { HandlerDeps, Handlers } from "./handler.js";
import { panelEvent } from "./panel-event.js";
import type { Peer } from "./peer.js";

type RunMethod = Extract<
  MethodName,
  | `run/${string}`
  | `blob/${string}`
  | `prompt/${string}`
  | `agent/${string}`
  | `tool/${string}`
  | `hook/${string}`
  | `panel/${string}`
  | "thread/fork"
  | "thread/switch"
  | "workspace/sync"
>;

type Named = { thread_id: string; workspace_id?: string | undefined };
/** Fills in the workspace of a thread that was named alone. */
type Locate = <P extends Named>(
  params: P,
  peer: Peer,
) => Promise<Omit<P, "workspace_id"> & { workspace_id: string }>;

/** Which function carries out which method around runs. */
export function runHandlers(deps: HandlerDeps, located: Locate): Pick<Handlers, RunMethod> {
  const ofRun = async <P extends runs.RunRef>(params: P, { subscriptions }: Peer): Promise<P> => {
    const { workspace_id } = await runs.findRun(deps, params);
    subscriptions?.follow(workspace_id);
    return params;
  };
  return {
    "run/start": async (params, { call, peer }) => runs.startRun(deps, await located(params, peer), call),
    "run/get": async (params, { peer }) => runs.getRun(deps, await ofRun(params, peer)),
    "run/list": (params) => runs.listRuns(deps, params),
    "run/cancel": async (params, { call, peer }) => runs.cancelRun(deps, await ofRun(params, peer), call),
    "run/steer": async (params, { call, peer }) => runs.steerRun(deps, await ofRun(params, peer), call),
    "run/approve": async (params, { call, peer }) => runs.approveCall(deps, await ofRun(params, peer), call),
    "run/update": async (params, { call, peer }) => runs.updateRun(deps, await ofRun(params, peer), call),
    "run/manifest": async (params, { peer }) => runs.readManifest(deps, await ofRun(params, peer)),
    "run/context": async (params, { peer }) => runs.readContext(deps, await ofRun(params, peer)),
    "run/preview": async (params, { peer }) => runs.previewRun(deps, await located(params, peer)),
    "run/journal": async (params, { peer }) => runs.readJournal(deps, await ofRun(params, peer)),
    "run/replay": async (params, { peer }) => runs.replayRun(deps, await ofRun(params, peer)),
    "thread/switch": async (params, { call, peer }) => {
      const { thread_id, workspace_id = "" } = params;
      const found =
        thread_id === undefined ? { workspace_id } : await located({ ...params, thread_id }, peer);
      const result = await runs.switchThread(deps, { ...params, workspace_id: found.workspace_id }, call);
      if (result.created) deps.watching.began(result.thread);
      return result;
    },
    "thread/fork": async (params, { call, peer }) => {
      const result = await runs.forkThread(deps, await located(params, peer), call);
      deps.watching.began(result.thread);
      return result;
    },

    "blob/put": (params) => prompts.putBlob(deps, params),
    "blob/get": (params) => prompts.getBlob(deps, params),
    "prompt/packs": (params) => prompts.listPacks(deps, params),
    "prompt/sync": (params, { call }) => prompts.syncPrompt(deps, params, call),
    "prompt/apply": (params, { call }) => prompts.applyPrompt(deps, params, call),
    "prompt/status": (params) => prompts.promptStatus(deps, params),
    "workspace/sync": (params, { call }) => prompts.syncWorkspace(deps, params, call),

    "agent/list": async ({ workspace_id, include_hidden, look_again }) => {
      if (look_again) deps.agents.look();
      await deps.agents.looked;
      const { problem, configFile } = deps.agents;
      const agents = agentsIn(deps, workspace_id);
      const usual = workspace_id === undefined ? agents.fallback : await defaultAgent(deps, workspace_id);
      return {
        data: agents
          .list(include_hidden)
          .map((agent) => (agent.agent_id === usual ? { ...agent, default: true } : agent)),
        ...(problem !== undefined && { problem }),
        ...(configFile !== undefined && { config_file: configFile }),
      };
    },
    "agent/get": async ({ workspace_id, agent_id }) => {
      await deps.agents.looked;
      const agents = agentsIn(deps, workspace_id);
      return { agent: describeAgent(agents, agents.require(agent_id)) };
    },
    "tool/list": (params, { peer }) => runs.listTools(deps, params, calledBy(peer).by),
    "tool/call": (params, { peer }) => runs.callTool(deps, params, calledBy(peer)),
    "panel/event": (params, { peer }) => panelEvent(deps, params, peer),
    "hook/list": async () => ({ data: deps.hooks.list() as never }),
  };
}

function agentsIn({ agents }: HandlerDeps, workspace_id: string | undefined) {
  return workspace_id === undefined ? agents.common : agents.in(workspace_id);
}

/** A command whose token was revoked has ended, though its connection may not know it yet. */
function calledBy({ bound, gone }: Peer) {
  return bound
    ? { by: "agent" as const, gone: AbortSignal.any([bound.signal, gone]), waits: bound.waits }
    : { by: "person" as const, gone };
}
