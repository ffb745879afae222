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
  const given = parsed(input) as Given;
  const path = firstOf(given, "path", "file_path");
  const before = firstOf(given, "old_text", "old_string");
  const after = firstOf(given, "new_text", "new_string");
  if (path && before && after)
    return (
      <Change
        path={path.text}
        before={before.text}
        after={after.text}
        rest={others(given, [path, before, after])}
      />
    );
  const content = firstOf(given, "content");
  if (path && content && /write|create/i.test(name))
    return <Change path={path.text} before="" after={content.text} rest={others(given, [path, content])} />;
  const command = firstOf(given, "command", "cmd");
  if (command) return <Exact text={command.text} rest={others(given, [command])} />;
  return <Exact text={given === undefined ? input : JSON.stringify(given, null, 2)} />;
}

type Given = Readonly<Record<string, unknown>> | null | undefined;

interface Argument {
  readonly key: string;
  readonly text: string;
}

function firstOf(given: Given, ...keys: readonly string[]): Argument | undefined {
  const key = keys.find((each) => typeof given?.[each] === "string");
  return key === undefined ? undefined : { key, text: given?.[key] as string };
}

/** All that is not drawn itself, another name for the same thing included: the tool may go by that one. */
function others(given: Given, drawn: readonly Argument[]): string {
  const rest = Object.entries(given ?? {}).filter(([key]) => !drawn.some((each) => each.key === key));
  return rest.map(([key, value]) => `${plain(key)}: ${plain(value)}`).join("\n");
}

/** On one line, so that no value can pass for another argument. */
function plain(value: unknown): string {
  return typeof value === "string" && !/[\n\r\u2028\u2029]/.test(value) ? value : JSON.stringify(value);
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
        <code className="where">{visibleExactly(path)}</code>
      </div>
      <Diff oldText={before} newText={after} path={path} />
      <Rest text={rest} />
    </div>
  );
}

function Rest({ text }: { readonly text: string }) {
  return text === "" ? null : <p className="rest">{visibleExactly(text)}</p>;
}
