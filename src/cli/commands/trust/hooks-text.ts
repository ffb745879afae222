import type { ProjectConfig } from "../../../atsf/index.js";
import { paint } from "../../output.js";
import { linkRefusal } from "./link-refusal.js";
import { plainly, section } from "./plainly.js";

type Hooks = NonNullable<ProjectConfig["worktreeHooks"]>;
type HookLink = NonNullable<Hooks["symlinks"]>[number];
type HookCommand = NonNullable<Hooks["postSetupCommands"]>[number];

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 30 * 60;

/**
 * What hooks would do, so that nothing in them can hide: every command word for word, whatever its label says. Where the
 * project's directory is on this machine, links are told by where they lead.
 */
export function hooksLines(content: string, project?: string): string[] {
  const { symlinks = [], postSetupCommands = [], initialPrompt = "" } = JSON.parse(content) as Hooks;
  return [
    ...section(
      "links into the worktree",
      symlinks.map((link) => linkLine(link, project)),
    ),
    ...section("commands, run in the worktree one after the other", postSetupCommands.flatMap(commandLines)),
    ...section("first prompt", initialPrompt === "" ? [] : initialPrompt.split("\n").map(plainly)),
  ];
}

function linkLine(link: HookLink, project: string | undefined): string {
  const { source, target } = link;
  const shown = plainly(target === undefined || target === source ? source : `${source} -> ${target}`);
  const why = linkRefusal(link, project);
  return why === undefined ? shown : `${shown}  ${paint.yellow(`not made: ${plainly(why)}`)}`;
}

function commandLines({ command, label, timeout, continueOnError, platforms }: HookCommand): string[] {
  const [first = "", ...more] = command.split("\n").map(plainly);
  const about = [
    ...(label === undefined ? [] : [`called ${JSON.stringify(plainly(label))}`]),
    `at most ${secondsOf(timeout)} s`,
    ...(continueOnError ? ["may fail"] : []),
    ...(platforms && platforms.length > 0 ? [`only on ${platforms.map(plainly).join(", ")}`] : []),
  ];
  return [
    `${paint.bold("$")} ${first}`,
    ...more.map((line) => `${paint.bold(">")} ${line}`),
    paint.dim(`  (${about.join("; ")})`),
  ];
}

/** As the hooks' runner reads it: 0 is the longest, not for ever. */
function secondsOf(timeout: number | undefined): number {
  if (timeout === undefined) return DEFAULT_SECONDS;
  return timeout === 0 ? MOST_SECONDS : Math.min(timeout / 1000, MOST_SECONDS);
}
