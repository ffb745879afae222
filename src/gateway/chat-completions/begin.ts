import { Turns } from "../../base/index.js";
import { resolveLadder } from "../../prompts/index.js";
import type { Run, RunConfig, RunContent, Thread } from "../../protocol/index.js";
import type { CallMethod, InsideDeps } from "../inside/caller.js";
import { type Block, readConversation } from "./conversation.js";
import { chatError } from "./errors.js";
import { ATTRIBUTE, findThread } from "./find-thread.js";
import { beginningOf, messageOf } from "./recorded.js";
import type { ChatRequest } from "./request.js";

export interface Begun {
  readonly thread: Thread;
  readonly run: Run;
}

/** Two requests that go on with the same conversation must not both find its thread: the second is another branch. */
const choosing = new Turns();

interface Place {
  readonly call: CallMethod;
  readonly workspace_id: string;
  /** Told of the thread before its run begins. */
  readonly chosen: (thread: Thread) => void;
}

/** Records a request as a thread and begins its run: where it goes on with one that is known, in that thread. */
export async function begin(deps: InsideDeps, request: ChatRequest, place: Place): Promise<Begun> {
  const { call, workspace_id } = place;
  const agent_id = await requireModel(deps, workspace_id, request.model);
  const conversation = readConversation(request.messages);
  const config = await configFor(deps, request.config, { ...place, agent_id, system: conversation.system });
  const { past, question } = conversation;
  const beginning = beginningOf(past[0]?.blocks ?? question);
  const start = async (thread: Thread): Promise<Begun> => {
    place.chosen(thread);
    const key = { workspace_id, thread_id: thread.id };
    return { thread, run: (await call("run/start", { ...key, content: contentOf(question), config })).run };
  };
  const inTurn = <T>(work: () => Promise<T>) => choosing.run(`${workspace_id}/${agent_id}`, work);
  const wentOn = await inTurn(async () => {
    const found = await findThread(call, { workspace_id, agent_id, beginning, past });
    return found && start(found);
  });
  if (wentOn) return wentOn;
  const { thread } = await call("thread/start", { workspace_id, agent_id, use_worktree: false });
  const key = { workspace_id, thread_id: thread.id };
  try {
    for (const one of past) await call("message/append", { ...key, message: messageOf(one) });
    return await inTurn(async () => {
      await call("thread/update", { ...key, attributes: { [ATTRIBUTE]: beginning } });
      return start(thread);
    });
  } catch (error) {
    // What can't be asked leaves no thread behind.
    await call("thread/delete", key).catch(() => {});
    throw error;
  }
}

/** The agent that a model's name stands for. One that can't be used is no model here. */
async function requireModel({ domain }: InsideDeps, workspace_id: string, model: string): Promise<string> {
  await domain.agents.looked;
  const agents = domain.agents.in(workspace_id).list();
  const found = agents.find(({ agent_id }) => agent_id === model);
  if (found?.available) return model;
  const known = agents.filter(({ available }) => available).map(({ agent_id }) => agent_id);
  const why = found
    ? `The agent ${model} can't be used: ${found.reason ?? "it is not available"}`
    : `The model ${JSON.stringify(model.slice(0, 100))} does not exist: a model is an agent here. There are: ${known.join(", ")}.`;
  throw chatError({ kind: "chat.no_model", model }, why);
}

interface Told {
  readonly call: CallMethod;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly system: string;
}

/** The caller's instructions come behind the agent's own: both are told, and both are in the manifest. */
async function configFor({ domain }: InsideDeps, config: RunConfig, told: Told): Promise<RunConfig> {
  const { call, workspace_id, agent_id, system } = told;
  if (system === "") return config;
  const agent = domain.agents.in(workspace_id).require(agent_id);
  const { text = "" } = resolveLadder({ thread: {}, agent, activePack: () => undefined });
  const own = await call("blob/put", { text, role: "system" });
  const theirs = await call("blob/put", { text: system, role: "system" });
  return { ...config, prompt_refs: [own.ref, theirs.ref] };
}

/** One text is a string; images and several blocks are blocks. */
function contentOf(question: readonly Block[]): RunContent {
  const [only] = question;
  return question.length === 1 && only?.type === "text" ? only.text : [...question];
}
