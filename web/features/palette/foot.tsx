import { shownKeys } from "../../state/commands.js";

interface FootProps {
  /** ⌘Enter does something with the chosen row. */
  readonly also: boolean;
  readonly agents: boolean;
}

const PREFIXES = [
  [">", "commands"],
  ["@", "agents"],
  ["#", "runs"],
  ["/", "folders"],
] as const;

/** Which keys do what; a reminder, not a control. */
export function Foot({ also, agents }: FootProps) {
  return (
    <footer aria-hidden="true">
      <Hint keys="↑↓">move</Hint>
      <Hint keys="⏎">open</Hint>
      {also && <Hint keys={shownKeys("mod+enter")}>{agents ? "new thread" : "in a new tab"}</Hint>}
      <span className="grow" />
      {PREFIXES.map(([keys, what]) => (
        <Hint key={keys} keys={keys}>
          {what}
        </Hint>
      ))}
    </footer>
  );
}

function Hint({ keys, children }: { readonly keys: string; readonly children: string }) {
  return (
    <span>
      <kbd>{keys}</kbd>
      {children}
    </span>
  );
}
