import { type Program, ProgramProblem } from "../program.js";

export const claude: Program = {
  id: "claude-cli",
  converse() {
    throw new ProgramProblem("program.missing", "is not in this version of Heddle");
  },
};
