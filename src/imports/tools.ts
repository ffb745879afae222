import { findClaude } from "./claude/find.js";
import { openClaude } from "./claude/open.js";
import { findCodex } from "./codex/find.js";
import { openCodex } from "./codex/open.js";
import { findOpencode } from "./opencode/find.js";
import { openOpencode } from "./opencode/open.js";
import { findPi } from "./pi/find.js";
import { openPi } from "./pi/open.js";
import type { Source, Tool } from "./session.js";

/** Every tool whose sessions can be taken in. */
export const sources: Readonly<Record<Tool, Source>> = {
  claude: { tool: "claude", name: "Claude Code", find: findClaude, open: openClaude },
  codex: { tool: "codex", name: "Codex", find: findCodex, open: openCodex },
  pi: { tool: "pi", name: "pi", find: findPi, open: openPi },
  opencode: { tool: "opencode", name: "OpenCode", find: findOpencode, open: openOpencode },
};
