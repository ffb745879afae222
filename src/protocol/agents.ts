import { z } from "zod";
import { unixSeconds } from "./common.js";
import { workspaceId } from "./ids.js";
import { promptRef } from "./tree.js";

export const agent = z
  .object({
    agent_id: z.string(),
    display_name: z.string(),
    description: z.string(),
    type: z.enum(["chat", "external"]),
    provider: z.string().optional(),
    model: z.string().optional(),
    available: z.boolean(),
    reason: z
      .string()
      .optional()
      .describe("why it is not available; of a program that is, why its first answer may fail"),
    color: z.string(),
    origin: z.enum(["config", "detected", "built_in"]),
    version: z.string().optional().describe("of its program, once that has been asked for it"),
    signed_in: z
      .boolean()
      .optional()
      .describe("whether somebody is signed in to its program; absent: only the program itself could tell"),
    own_tools: z.boolean().optional(),
    hidden: z.boolean().optional(),
    default: z
      .boolean()
      .optional()
      .describe("in a list: it answers in threads that are begun without naming an agent"),
  })
  .describe("An agent as it is defined or was found here.");

const globs = z.array(z.string()).optional();

export const agentDetails = agent
  .extend({
    extends: z.string().optional(),
    system_prompt: z
      .string()
      .optional()
      .describe("as it is written; without one it is made of name and description"),
    tool_allowlist: globs.describe("globs; absent: no limit"),
    tool_denylist: globs,
    capability_allowlist: globs,
    capability_denylist: globs,
    skill_allowlist: globs,
    skill_denylist: globs,
    agent_allowlist: globs,
    agent_denylist: globs,
    tool_exposure: z.enum(["tools", "skills", "mixed"]).optional(),
    tool_approvals: z
      .object({ allow: z.array(z.string()), ask: z.array(z.string()), deny: z.array(z.string()) })
      .optional()
      .describe("globs; what none of them names is asked for where the tool says so"),
    peers: z.array(z.string()).optional().describe("the agents it sees and may hand work to"),
  })
  .describe("An agent with its limits.");

export const tool = z
  .object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string(),
    parameters: z.looseObject({}).describe("a JSON Schema of an object"),
    capabilities: z.array(z.string()),
    safe_to_repeat: z.boolean(),
    approval: z
      .enum(["allow", "ask", "deny"])
      .optional()
      .describe("whether somebody is asked before that thread's agent calls it"),
    plugin: z.string().optional(),
    offered: z.boolean(),
    reason: z.string().optional().describe("why it is not offered to that thread's agent"),
  })
  .describe("A tool, and whether the agent of the thread that was named may use it.");

export const toolServer = z
  .object({
    name: z.string(),
    state: z.enum(["connecting", "ready", "failed", "off"]),
    tools: z.int().min(0).describe("how many it offers"),
    problem: z.string().optional().describe("why it, or some of its tools, can't be used"),
    since: unixSeconds,
  })
  .describe("An MCP server that tools come from.");

export const toolResult = z.object({
  status: z.enum(["completed", "failed"]),
  output: z.string(),
  ref: promptRef.optional(),
  duration_ms: z.int().min(0),
  truncated: z.boolean().optional(),
});

export const agentChangedNotification = z
  .object({
    workspace_id: workspaceId,
    problem: z.string().optional().describe("why the last edit of the configuration is not in effect"),
  })
  .describe("Live only: the agents are others now, or an edit of the configuration could not be used.");

const hookFailure = z.looseObject({ at: unixSeconds, reason: z.string(), message: z.string() });

export const hookPackage = z
  .looseObject({
    id: z.string(),
    domain: z.string(),
    contributes: z.array(z.string()),
    source: z.looseObject({ kind: z.enum(["built_in", "module", "command"]) }),
    subscriptions: z.array(
      z.looseObject({
        hook_id: z.string(),
        subscription_id: z.string(),
        phase: z.string(),
        priority: z.int(),
        execution: z.string(),
        failure_policy: z.string(),
        visibility: z.string(),
        budget: z.int(),
        position: z.int().describe("its place in the order of its phase, from 1"),
        failures: z.object({
          total: z.int().min(0),
          last: z.array(hookFailure).describe("the newest first"),
        }),
      }),
    ),
  })
  .describe("An installed hook package, its subscriptions and what went wrong of late.");
