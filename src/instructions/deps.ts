import type { Clock, MakeId } from "../base/index.js";
import type { Store } from "../store/index.js";

export interface InstructionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: MakeId;
}
