const LONGEST = 120;

/** What programs put around or before what a person typed. */
const WRAPPERS =
  /<(command-[a-z-]+|local-command-[a-z-]+|system-reminder|task-notification|ide_[a-z_]+|user_instructions|environment_context)>[\s\S]*?<\/\1>/g;

/** The first line of a text as a title: one line, without what a program added to it. */
export function titleOf(text: string | undefined): string | undefined {
  const lines = (text ?? "")
    .slice(0, 64 * 1024)
    .replace(WRAPPERS, "")
    .split("\n")
    .map((line) => line.replaceAll(/\p{Cc}+/gu, " ").trim());
  const first = lines.find((line) => line !== "");
  if (first === undefined) return undefined;
  return [...first].slice(0, LONGEST).join("").replaceAll("\0", "\uFFFD").toWellFormed();
}
