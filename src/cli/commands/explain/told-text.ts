import type { Manifest, Result, Run, Thread } from "../../../protocol/index.js";
import { count, formatTime, paint, tableLines, visible } from "../../output.js";
import { hasEnded } from "../run/follow.js";
import { number, statusText, usageText } from "../run/run-text.js";
import { settingText } from "./compare.js";
import { sourceText } from "./source-text.js";

/** The request as it was sent, or why it can't be shown. */
export type ShownRequest = Result<"run/context">["request"] | { readonly problem: string };

interface ToTell {
  readonly run: Run;
  readonly manifest: Manifest;
  readonly thread: Thread;
  readonly request: ShownRequest;
}

/** What a model was told and why, for people. */
export function toldLines({ run, manifest, thread, request }: ToTell): string[] {
  const rows: [string, string | undefined][] = [
    ["thread", run.thread_id],
    ["asked", formatTime(run.created_at)],
    ["agent", visible(manifest.agent_id)],
    ["model", `${visible(manifest.model)}  ${paint.dim(`provider ${visible(manifest.provider)}`)}`],
    ["params", paramsText(manifest)],
    ["step", `${manifest.step} of ${run.steps}`],
    ["window", windowText(manifest)],
    ["counted", countedText(run)],
    ["request", requestText(request, manifest)],
    ["handed", deliveryText(manifest)],
    ["adds", manifest.delivery?.adds.map(visible).join("; ") || undefined],
    ["prefix", prefixText(manifest)],
    ["replay", replayText(run)],
  ];
  return [
    `${paint.bold(`Run ${run.number} of ${visible(thread.title)}`)}  ${statusText(run.status)}  ${paint.dim(run.id)}`,
    ...(run.error ? [paint.red(visible(run.error.message))] : []),
    ...rows.flatMap(([name, value]) => (value === undefined ? [] : [field(name, value)])),
    "",
    ...sectionTable(manifest),
    ...shadowedLines(manifest),
    "",
    ...toolLines(manifest),
  ];
}

function field(name: string, value: string): string {
  return `${paint.dim(name.padEnd(7))}  ${value}`;
}

function paramsText({ params }: Manifest): string | undefined {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0
    ? undefined
    : given.map(([name, value]) => visible(`${name} ${settingText(value)}`)).join(", ");
}

function windowText({ window: { context, reserved, tokens_estimate } }: Manifest): string {
  const share = context === 0 ? "" : ` (${Math.round((tokens_estimate / context) * 100)} %)`;
  return `~${number(tokens_estimate)} of ${number(context)} tokens${share}, ${number(reserved)} kept free for the answer`;
}

/** The provider's own figure is of all steps together, the estimate of one. */
function countedText(run: Run): string | undefined {
  if (!run.usage) return undefined;
  const steps = run.steps > 1 ? ` over ${run.steps} steps` : "";
  return `${usageText(run.usage)}, by the provider${steps}`;
}

function requestText(request: ShownRequest, { delivery }: Manifest): string {
  if ("problem" in request) return paint.red(visible(request.problem));
  const about = `${visible(request.url)}  ${number(request.body.length)} characters`;
  const exact = delivery ? "kept byte for byte" : "can be built again byte for byte";
  if (request.exact === true) return `${about}  ${paint.green(exact)}`;
  const why =
    request.sha256 === undefined ? "not known to have been sent" : "can't be built again byte for byte";
  return `${about}  ${paint.yellow(why)}`;
}

const WAYS: Readonly<Record<NonNullable<Manifest["delivery"]>["way"], string>> = {
  system_prompt: "in its system prompt",
  developer_instructions: "as its developer instructions",
  message: "at the head of the message",
  already_there: "given when its session began, and unchanged",
  not_sent: "not sent: it gets the user's message and nothing else",
};

const SESSIONS: Readonly<Record<NonNullable<Manifest["delivery"]>["session"], string>> = {
  new: "a new session",
  resumed: "the session of the turn before, in another process",
  kept: "the session of the turn before",
};

/** How it reached an agent that is a program. */
function deliveryText({ delivery }: Manifest): string | undefined {
  if (!delivery) return undefined;
  const { way, session, replayed } = delivery;
  const past = replayed > 0 ? `, told ${count(replayed, "message")} of the past` : "";
  return `to ${SESSIONS[session]}${past}; instructions ${WAYS[way]}`;
}

function prefixText({ prefix_changed_at: at, sections }: Manifest): string | undefined {
  if (at === undefined) return undefined;
  const title = sections.find(({ id }) => id === at)?.title ?? at;
  return `other than in the run before from ${visible(title)} on; \`--diff\` shows how`;
}

function replayText(run: Run): string {
  return hasEnded(run)
    ? `heddle replay ${run.id}  ${paint.dim("proves it from its record")}`
    : "it has not ended: what is recorded so far can be replayed";
}

function sectionTable({ sections, history, dropped = [] }: Manifest): string[] {
  const rows = sections.map(({ title, chars, tokens_estimate, truncation, source }) => [
    visible(title),
    number(chars).padStart(WIDE),
    `~${number(tokens_estimate)}`.padStart(WIDE),
    truncation === "none" ? "" : paint.yellow(CUTS[truncation]),
    sourceText(source),
  ]);
  const left = dropped.length === 0 ? "" : paint.yellow(`${dropped.length} left out`);
  const all = [
    ...rows,
    [
      "History",
      number(history.chars).padStart(WIDE),
      `~${number(history.tokens_estimate)}`.padStart(WIDE),
      left,
      `${count(history.messages, "message")} of the thread${dropped.length === 0 ? "" : "; older ones did not fit the window"}`,
    ],
  ];
  return tableLines(["SECTION", "CHARACTERS", "TOKENS".padStart(WIDE), "CUT", "SOURCE"], all);
}

const WIDE = 10;

const CUTS: Readonly<Record<"hook" | "prompt", string>> = {
  hook: "cut at its hook's budget",
  prompt: "cut to fit the prompt",
};

const SHADOWED: Readonly<Record<string, string>> = {
  run_refs: "the prompt given with the message",
  thread_refs: "the thread's own prompt",
  prompt_pack: "the prompt pack",
};

function shadowedLines({ shadowed = [] }: Manifest): string[] {
  return shadowed.map(({ source, by, name }) => {
    const what = `${SHADOWED[source] ?? source}${name === undefined ? "" : ` ${name}`}`;
    return paint.yellow(visible(`Not used: ${what}. In its place: ${SHADOWED[by] ?? by}.`));
  });
}

/** Hundreds of tools that an agent may not use would hide what it was told. */
const MOST_OTHERS = 40;

function toolLines({ tools }: Manifest): string[] {
  const offered = tools
    .filter((tool) => tool.offered)
    .map(({ name, approval }) => `${visible(name)}${approval === "ask" ? " (asks first)" : ""}`);
  const others = tools.filter((tool) => !tool.offered);
  const shown = others.slice(0, MOST_OTHERS);
  return [
    offered.length === 0 ? "No tools were offered." : `Tools offered: ${offered.join(", ")}`,
    ...shown.map(({ name, reason }) => `  not ${visible(name)}: ${visible(reason ?? "it did not say why")}`),
    ...(others.length > shown.length
      ? [`  and not ${others.length - shown.length} others; \`--json\` lists them`]
      : []),
  ];
}
