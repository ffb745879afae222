import { Check, ChevronDown, ChevronUp, X } from "lucide-react";
import { useState } from "react";
import { usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { useLayout } from "../../state/prefs.js";
import { useRoute } from "../../state/router.js";
import { useTree } from "../../state/tree.js";
import { Button, IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { useObserve } from "./observe.js";
import { note } from "./progress.js";
import { type Step, useSteps } from "./steps.js";
import "./first-steps.css";

/** The steps, small, beside whatever they led to: over the foot of the sidebar, or folded below the header. */
export default function FirstSteps() {
  const ws = useTree((tree) => tree.ws);
  useObserve(ws);
  const size = useSize();
  const { side } = usePanes();
  const home = useRoute().view === "home";
  const docked = side && (size === "wide" || size === "mid");
  const place = docked ? "docked" : home ? "bottom" : "top";
  if (ws === undefined) return null;
  return <StepsCard key={place} ws={ws} place={place} />;
}

interface StepsCardProps {
  readonly ws: string;
  readonly place: "docked" | "bottom" | "top";
}

/** Where it lies over what is read it begins folded. */
function StepsCard({ ws, place }: StepsCardProps) {
  const steps = useSteps();
  const { side: width } = useLayout(ws);
  const [folded, setFolded] = useState(place === "top");
  const left = steps.filter(({ done }) => !done).length;
  if (steps.length === 0) return null;
  const title = left === 0 ? "That was all of it" : `First steps, ${steps.length - left} of ${steps.length}`;
  const style = place === "docked" && width ? { width: width - 16 } : undefined;
  return (
    <section className={`steps-card ${place}`} style={style} aria-label="First steps">
      <header className="row-x">
        <h2 className="label grow">{title}</h2>
        <IconButton
          small
          icon={folded ? ChevronDown : ChevronUp}
          label={folded ? "Show the steps" : "Fold the steps"}
          aria-expanded={!folded}
          onClick={() => setFolded(!folded)}
        />
        <IconButton small icon={X} label="Close the first steps" onClick={() => note(ws, { along: false })} />
      </header>
      {!folded && (
        <ol>
          {steps.map((step, at) => (
            <StepRow key={step.id} step={step} number={at + 1} current={step === firstLeft(steps)} />
          ))}
        </ol>
      )}
    </section>
  );
}

function firstLeft(steps: readonly Step[]): Step | undefined {
  return steps.find(({ done }) => !done);
}

interface StepRowProps {
  readonly step: Step;
  readonly number: number;
  readonly current: boolean;
}

function StepRow({ step, number, current }: StepRowProps) {
  return (
    <li className={step.done ? "done" : undefined} aria-current={current ? "step" : undefined}>
      <span className="o">{step.done ? <Icon of={Check} size={14} label="Done" /> : number}</span>
      <div>
        <span className={current ? "label" : "ink-2"}>{step.title}</span>
        {current && (
          <>
            <p className="small ink-2">{step.text}</p>
            <Button small off={step.off} onClick={step.run}>
              {step.action}
            </Button>
          </>
        )}
      </div>
    </li>
  );
}
