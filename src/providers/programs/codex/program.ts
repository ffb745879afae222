import { type Program, ProgramProblem } from "../program.js";

export const codex: Program = {
  id: "codex-cli",
  converse() {
    throw new ProgramProblem("program.missing", "is not in this version of Heddle");
  },
};
