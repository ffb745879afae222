import type { RunSteering } from "../../../src/protocol/index.js";
import { splitContextLine } from "../../state/context-line.js";
import { StateMark } from "../../ui/state-mark.js";

/** Words that were given to the run under way. Nobody can take them back: it may be told of them at any moment. */
export function SteeringRow({ said }: { readonly said: RunSteering }) {
  const { text } = splitContextLine(said.content);
  return (
    <li>
      <StateMark mark="queued" silent />
      <span className="grow cut" title={text}>
        {text}
      </span>
      <span className="small ink-3 with-step">With the next step</span>
    </li>
  );
}
