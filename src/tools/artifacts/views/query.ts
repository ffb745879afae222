import { artifactItems, artifacts, type Unit } from "../../../store/index.js";
import { quoted } from "../../quoted.js";
import type { Act } from "../define.js";
import { findArtifact } from "../find.js";
import type { Asked } from "../page.js";
import { Refusal } from "../refusal.js";
import { containing, havingTag } from "../text.js";

/** What the tools of views say of the language. */
export const QUERY_WORDS =
  'Terms are parted by spaces and must all hold: list:"Groceries" (id or exact name; several: any of them), tag:home, done:true or done:false, any other words stand in the item\'s text. Quotes keep words together; a minus before a term turns it round: -tag:later.';

export type Term =
  | { readonly key: "list" | "tag" | "text"; readonly value: string; readonly not: boolean }
  | { readonly key: "done"; readonly value: boolean };

/** How many terms a query has at most. */
const MOST_TERMS = 32;

/** Reads a query, or says what is wrong with it. */
export function parseQuery(query: string): Term[] {
  const terms = [...query.matchAll(TERM)].map(([whole, minus, key, quotes, bare]) =>
    termOf({
      whole,
      not: minus !== undefined,
      key: key?.slice(0, -1).toLowerCase(),
      value: quotes ?? bare ?? "",
    }),
  );
  if (terms.length === 0) throw new Refusal(`The query is empty. ${QUERY_WORDS}`);
  if (terms.length > MOST_TERMS) throw new Refusal(`A query has at most ${MOST_TERMS} terms.`);
  if (terms.filter(({ key }) => key === "done").length > 1) {
    throw new Refusal("The query says done: more than once. Say it once, or leave it out for all items.");
  }
  return terms;
}

/** An optional minus, an optional key, and what stands in quotes or up to the next blank. An address is no key. */
const TERM = /(-(?=\S))?([A-Za-z_]+:(?!\/\/))?(?:"([^"]*)(?:"|$)|(\S+)|(?<=:))/g;

interface Read {
  readonly whole: string;
  readonly not: boolean;
  readonly key: string | undefined;
  readonly value: string;
}

function termOf({ whole, not, key, value: given }: Read): Term {
  const value = given.trim();
  if (value === "") throw new Refusal(`${quoted(whole)} has no value. ${QUERY_WORDS}`);
  if (key === undefined) return { key: "text", value, not };
  if (key === "list" || key === "tag" || key === "text") return { key, value, not };
  if (key !== "done") {
    throw new Refusal(
      `There is no key ${quoted(`${key}:`)} in queries, only list:, tag:, done: and text:. To look for the words themselves, put them in quotes.`,
    );
  }
  if (!/^(true|false)$/i.test(value)) throw new Refusal(`done: is true or false, not ${quoted(value)}.`);
  return { key, value: (value.toLowerCase() === "true") !== not };
}

/** The items that a query finds. Lists are looked up by their names as they are now. */
export function* carryOut(act: Act, query: string, page: Asked): Unit<artifactItems.FoundItem[]> {
  return yield* artifactItems.filterItems({ ...(yield* filterOf(act, query)), ...page });
}

/** What must be found in the store. A query that names a list that is not there can't be carried out. */
export function* filterOf(act: Act, query: string): Unit<Omit<artifactItems.ItemFilter, "offset" | "limit">> {
  const terms = parseQuery(query);
  const wanted: string[] = [];
  const unwanted: string[] = [];
  for (const term of terms) {
    if (term.key === "list") (term.not ? unwanted : wanted).push(...(yield* listsOf(act, term.value)));
  }
  const done = terms.find((term) => term.key === "done");
  return {
    workspace_id: act.workspace_id,
    ...(wanted.length > 0 && { list_ids: wanted }),
    not_list_ids: unwanted,
    done: done?.value === undefined ? undefined : done.value === true,
    tags: terms.flatMap((term) =>
      term.key === "tag" ? [{ pattern: havingTag(term.value), not: term.not }] : [],
    ),
    texts: terms.flatMap((term) =>
      term.key === "text" ? [{ pattern: containing(term.value), not: term.not }] : [],
    ),
  };
}

const MOST_OF_ONE_NAME = 200;

/** All lists of a name: whoever filters by it means every one of them. */
function* listsOf(act: Act, ref: string): Unit<string[]> {
  const { workspace_id } = act;
  const named = yield* artifacts.artifactsNamed({
    workspace_id,
    kind: "list",
    name: ref,
    limit: MOST_OF_ONE_NAME,
  });
  if (named.length > 0) return named.map(({ id }) => id);
  return [(yield* findArtifact(act, "list", ref)).id];
}
