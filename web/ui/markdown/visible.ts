/** Characters that change how others are read without being seen: overrides of direction, tags, controls. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
/** Besides those, what takes no room: a command must look like what it is. */
const NO_ROOM =
  /\u00ad|\u034f|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\u200b-\u200d]|[\u2060-\u2064\u206a-\u206f]|\u3164|\ufeff|\uffa0/gu;
const PILE = /(\p{M}{8})\p{M}+/gu;
const LONE = /\p{Surrogate}/gu;

/** Text that shows what it is: what would be unseen is named, and marks do not pile up over other lines. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, named).replace(PILE, "$1").replace(LONE, "\ufffd");
}

/** The same, stricter: for commands, arguments and names. */
export function visibleExactly(text: string): string {
  return visible(text).replace(NO_ROOM, named);
}

function named(character: string): string {
  const code = character.codePointAt(0) as number;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
