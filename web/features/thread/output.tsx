import { count, counted } from "../../ui/format.js";
import { visible } from "../../ui/markdown/visible.js";
import { useShowsAll } from "../../ui/sought.js";
import { tailWords } from "./call-facts.js";
import type { Call } from "./parts.js";

const TAIL_LINES = 12;
const LINE_CHARS = 2_000;
const ALL_CHARS = 200_000;

/** What a tool answered: its last lines, and all of it on request. */
export function Output({ call }: { readonly call: Call }) {
  const said = call.output.replace(/\n$/, "");
  const [all, setAll] = useShowsAll(() => linesOf(said).slice(0, -TAIL_LINES).join("\n"));
  if (said.trim() === "") {
    const words = call.status === "completed" || call.status === "failed" ? "No output" : "No output yet";
    return <p className="out-none">{words}</p>;
  }
  const lines = linesOf(said);
  const shown = all ? lines : lines.slice(-TAIL_LINES);
  return (
    <div className="well">
      <pre className="out">{shown.map(bounded).join("\n")}</pre>
      {lines.length > TAIL_LINES && (
        <div className="well-f">
          <span className="grow">
            {all ? allWords(lines.length, said.length) : tailWords(shown.length, lines.length)}
          </span>
          <button type="button" className="link" onClick={() => setAll(!all)}>
            {all ? "Last lines" : "All output"}
          </button>
        </div>
      )}
    </div>
  );
}

function allWords(lines: number, chars: number): string {
  const whole = counted(lines, "line");
  return chars > ALL_CHARS ? `${whole}, the last ${count(ALL_CHARS)} of ${count(chars)} characters` : whole;
}

function linesOf(output: string): string[] {
  const kept = output.length > ALL_CHARS ? `… ${output.slice(-ALL_CHARS)}` : output;
  return kept.split(/\r?\n/);
}

/** A line without an end would take minutes to be laid out. */
function bounded(line: string): string {
  const shown =
    line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)} … ${line.length - LINE_CHARS} more` : line;
  return visible(shown.replaceAll(ESCAPES, ""));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals colour with them
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;
