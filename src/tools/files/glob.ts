/** Whether a path, with slashes, is one of those a glob names. */
export type Glob = (path: string) => boolean;

const MOST_ALTERNATIVES = 64;

type Token =
  | { readonly is: "one"; readonly fits: (character: string) => boolean }
  /** Any number of characters of one name. */
  | { readonly is: "name" }
  /** Any number of whole names, each with its slash. */
  | { readonly is: "names" }
  /** Anything at all. */
  | { readonly is: "rest" };

/**
 * `*`, `?`, `**`, `[a-z]`, `[!a-z]`, `{a,b}`; a glob without a slash is compared with the last name. Its time is bounded by
 * its length times the path's: a model's glob must not hold up the gateway, as one made into a regular expression can.
 */
export function parseGlob(text: string): Glob | { readonly problem: string } {
  const alternatives = expanded(text);
  if (alternatives === undefined) {
    return {
      problem: `the glob has more than ${MOST_ALTERNATIVES} alternatives in braces. Give a simpler one.`,
    };
  }
  const ways = alternatives.map((one) => ({
    tokens: tokensOf(one.replace(/^\.?\//, "")),
    bare: !one.includes("/"),
  }));
  return (path) => {
    const name = [...path.slice(path.lastIndexOf("/") + 1)];
    const whole = [...path];
    return ways.some(({ tokens, bare }) => matches(tokens, bare ? name : whole));
  };
}

/** Models name files from the workspace's directory, or from the one they ask about. */
export function named({ path, within }: { path: string; within: string }, glob: Glob): boolean {
  return glob(within) || glob(path);
}

function expanded(text: string): string[] | undefined {
  let open = [text];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const one of open) {
      const parts = firstBraces(one);
      if (parts) next.push(...parts.between.map((part) => parts.before + part + parts.after));
      else done.push(one);
      if (next.length + done.length > MOST_ALTERNATIVES) return undefined;
    }
    open = next;
  }
  return done;
}

/** The innermost first: what is left afterwards is a simpler glob. */
function firstBraces(text: string) {
  const end = text.indexOf("}");
  const start = end < 0 ? -1 : text.lastIndexOf("{", end);
  if (start < 0) return undefined;
  return {
    before: text.slice(0, start),
    between: text.slice(start + 1, end).split(","),
    after: text.slice(end + 1),
  };
}

function tokensOf(glob: string): Token[] {
  const characters = [...glob];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; ) {
    const [token, length] = tokenAt(characters, at);
    tokens.push(token);
    at += length;
  }
  return tokens;
}

function tokenAt(glob: readonly string[], at: number): [Token, number] {
  const character = glob[at] as string;
  if (character === "*") {
    let stars = 1;
    while (glob[at + stars] === "*") stars++;
    const whole = stars > 1 && (at === 0 || glob[at - 1] === "/");
    if (whole && glob[at + stars] === "/") return [{ is: "names" }, stars + 1];
    if (whole && at + stars === glob.length) return [{ is: "rest" }, stars];
    return [{ is: "name" }, stars];
  }
  if (character === "?") return [{ is: "one", fits: (one) => one !== "/" }, 1];
  if (character === "[") {
    const end = glob.indexOf("]", at + 2);
    if (end > 0) return [classOf(glob.slice(at + 1, end)), end - at + 1];
  }
  return [{ is: "one", fits: (one) => one === character }, 1];
}

function classOf(between: readonly string[]): Token {
  const not = between[0] === "!" || between[0] === "^";
  const members = not ? between.slice(1) : between;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members[at] as string;
    const to = members[at + 1] === "-" ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  const within = (one: string) => ranges.some(([from, to]) => from <= one && one <= to);
  return { is: "one", fits: (one) => one !== "/" && within(one) !== not };
}

/** All places in the glob that the path so far can have come to, at once: nothing is ever tried again. */
function matches(tokens: readonly Token[], path: readonly string[]): boolean {
  let places = reachable(tokens, new Set([0]), true);
  for (const character of path) {
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token && goesOn(token, character)) next.add(token.is === "one" ? place + 1 : place);
    }
    if (next.size === 0) return false;
    places = reachable(tokens, next, character === "/");
  }
  return places.has(tokens.length);
}

function goesOn(token: Token, character: string): boolean {
  if (token.is === "one") return token.fits(character);
  return token.is !== "name" || character !== "/";
}

/** Tokens that stand for nothing may be passed over; names only where a name begins. */
function reachable(tokens: readonly Token[], from: ReadonlySet<number>, nameBegins: boolean): Set<number> {
  const places = new Set(from);
  for (const place of places) {
    const token = tokens[place];
    if (token && token.is !== "one" && (token.is !== "names" || nameBegins)) places.add(place + 1);
  }
  return places;
}
