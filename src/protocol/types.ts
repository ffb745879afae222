import type { z } from "zod";
import type * as doc from "./agents-doc.js";
import type * as file from "./threads.js";
import type * as tree from "./tree.js";

export type Workspace = z.output<typeof tree.workspace>;
export type Folder = z.output<typeof tree.folder>;
export type Placement = z.output<typeof tree.placement>;
export type Thread = z.output<typeof tree.thread>;
export type ThreadConfig = z.output<typeof tree.threadConfig>;
export type AgentsDoc = z.output<typeof doc.agentsDocPayload>;
export type AgentsDocSummary = z.output<typeof doc.agentsDocSummary>;
export type AgentsDocResolved = z.output<typeof doc.agentsDocResolvedPayload>;
export type AgentsDocRevision = z.output<typeof doc.agentsDocRevision>;
export type Message = z.output<typeof file.message>;
export type ThreadSetup = z.output<typeof file.threadSetup>;
export type TrustState = z.output<typeof file.trustState>;
