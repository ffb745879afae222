import { runHooks } from "../../../src/atsf/index.js";

/** Runs one command as a hook, for a test that kills this process meanwhile. */
const [repository = "", worktree = "", command = ""] = process.argv.slice(2);
await runHooks({ hooks: { postSetupCommands: [{ command }] }, repository, worktree });
