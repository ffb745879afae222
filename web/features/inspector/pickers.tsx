import { ChevronDown } from "lucide-react";
import type { Run } from "../../../src/protocol/index.js";
import { navigate, type ThreadRoute } from "../../state/router.js";
import { when } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import type { MenuItem, MenuItems } from "../../ui/menu.js";
import { MenuButton } from "../../ui/menu-button.js";

/** More than these stand in the tab Runs. */
const MOST = 24;

interface RunPickerProps {
  readonly route: ThreadRoute;
  readonly run: Run;
  /** Oldest first. */
  readonly runs: readonly Run[];
}

/** Goes to another run, at its last step. */
export function RunPicker({ route, run, runs }: RunPickerProps) {
  const items = (): MenuItems => {
    const newest = runs.slice(-MOST).reverse();
    const all: MenuItem = {
      label: "All runs of this thread",
      run: () => navigate({ ...route, pane: "runs", full: undefined, show: undefined, preview: undefined }),
    };
    return [
      ...newest.map((each) => ({
        label: `Run ${each.number}`,
        hint: hintOf(each),
        checked: each.id === run.id,
        run: () => navigate({ ...route, ...picked, run: each.id }),
      })),
      null,
      all,
    ];
  };
  return (
    <MenuButton className="pick num" label={`Run ${run.number}, choose another`} items={items}>
      Run {run.number} <Icon of={ChevronDown} size={12} />
    </MenuButton>
  );
}

const picked = { pane: "context", step: undefined, preview: undefined, message: undefined } as const;

function hintOf({ status, created_at }: Run): string {
  const time = when(created_at);
  return status === "completed" ? time : `${status}, ${time}`;
}

interface StepPickerProps {
  readonly route: ThreadRoute;
  readonly run: Run;
  readonly step: number;
  readonly steps: number;
}

export function StepPicker({ route, run, step, steps }: StepPickerProps) {
  const items = (): MenuItems =>
    Array.from({ length: steps }, (_, at) => ({
      label: `Step ${at + 1}`,
      checked: at + 1 === step,
      run: () => navigate({ ...route, ...picked, run: run.id, step: at + 1 }),
    }));
  if (steps < 2) return <span className="pick-still num">Step 1 of 1</span>;
  return (
    <MenuButton className="pick num" label={`Step ${step} of ${steps}, choose another`} items={items}>
      Step {step} of {steps} <Icon of={ChevronDown} size={12} />
    </MenuButton>
  );
}

interface ComparePickerProps {
  readonly run: Run;
  readonly against: Run;
  readonly runs: readonly Run[];
  choose(run: Run): void;
}

export function ComparePicker({ run, against, runs, choose }: ComparePickerProps) {
  const items = (): MenuItems =>
    runs
      .filter(({ id, steps }) => id !== run.id && steps > 0)
      .slice(-MOST)
      .reverse()
      .map((each) => ({
        label: `Run ${each.number}`,
        hint: hintOf(each),
        checked: each.id === against.id,
        run: () => choose(each),
      }));
  return (
    <MenuButton
      className="pick num"
      label={`Compared with run ${against.number}, choose another`}
      items={items}
    >
      run {against.number} <Icon of={ChevronDown} size={12} />
    </MenuButton>
  );
}

/** The run that one is held against: the nearest before it that sent something. */
export function runBefore(runs: readonly Run[], run: Run | undefined): Run | undefined {
  return run && runs.findLast(({ number, steps }) => number < run.number && steps > 0);
}
