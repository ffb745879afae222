import { type Program, ProgramProblem } from "../program.js";

export const acp: Program = {
  id: "acp",
  converse() {
    throw new ProgramProblem("program.missing", "is not in this version of Heddle");
  },
};
