import { Diff } from "../../ui/diff/diff.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { parsed } from "./call-facts.js";

const WISHES: readonly (readonly [RegExp, string])[] = [
  [/(^|_)(bash|shell|exec|command|terminal)/i, "run a command"],
  [/files_edit|(^|_)(edit|patch|multiedit)/i, "edit a file"],
  [/files_write|(^|_)(write|create_file)/i, "write a file"],
  [/agents_message$/, "ask another agent"],
];

/** What it wants to do, behind `wants to`. */
export function wishOf(name: string): string {
  return WISHES.find(([pattern]) => pattern.test(name))?.[1] ?? `use ${visibleExactly(name)}`;
}

const SHOWN_CHARS = 20_000;

/** Exactly what was asked for: the command, the change, or every argument. */
export function Asked({ name, input }: { readonly name: string; readonly input: string }) {
  const given = parsed(input) as Record<string, unknown> | undefined;
  const text = (key: string) => (typeof given?.[key] === "string" ? (given[key] as string) : undefined);
  const path = text("path") ?? text("file_path");
  const [before, after] = [text("old_text") ?? text("old_string"), text("new_text") ?? text("new_string")];
  if (path !== undefined && before !== undefined && after !== undefined)
    return <Change path={path} before={before} after={after} rest={others(given, CHANGE)} />;
  const content = text("content");
  if (path !== undefined && content !== undefined && /write|create/i.test(name))
    return <Change path={path} before="" after={content} rest={others(given, CHANGE)} />;
  const command = text("command") ?? text("cmd");
  if (command !== undefined) return <Exact text={command} rest={others(given, COMMAND)} />;
  return <Exact text={given === undefined ? input : JSON.stringify(given, null, 2)} />;
}

const CHANGE = ["path", "file_path", "old_text", "new_text", "old_string", "new_string", "content"];
const COMMAND = ["command", "cmd"];

/** Nothing that was asked for may be left out. */
function others(given: Record<string, unknown> | undefined, shown: readonly string[]): string {
  const rest = Object.entries(given ?? {}).filter(([key]) => !shown.includes(key));
  return rest
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

function Exact({ text, rest = "" }: { readonly text: string; readonly rest?: string }) {
  return (
    <>
      <code className="cmd">{visibleExactly(text.slice(0, SHOWN_CHARS))}</code>
      {text.length > SHOWN_CHARS && <code className="cmd">{visibleExactly(text.slice(SHOWN_CHARS))}</code>}
      <Rest text={rest} />
    </>
  );
}

interface ChangeProps {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly rest: string;
}

function Change({ path, before, after, rest }: ChangeProps) {
  return (
    <div className="well">
      <div className="well-h">
        <code className="cut">{visibleExactly(path)}</code>
      </div>
      <Diff oldText={before} newText={after} path={path} />
      <Rest text={rest} />
    </div>
  );
}

function Rest({ text }: { readonly text: string }) {
  return text === "" ? null : <p className="rest">{visibleExactly(text)}</p>;
}
