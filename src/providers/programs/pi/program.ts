import { type Program, ProgramProblem } from "../program.js";

export const pi: Program = {
  id: "pi-cli",
  converse() {
    throw new ProgramProblem("program.missing", "is not in this version of Heddle");
  },
};
