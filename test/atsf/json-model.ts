import fc from "fast-check";

/** JSON with everything a program might lose: the order of keys and the very digits of numbers. */
export type Model = Raw | readonly Model[] | Members;
/** A scalar as it stands in the text. */
export type Raw = string;
export interface Members {
  readonly members: readonly (readonly [string, Model])[];
}

export type Layout = "" | "  " | "    " | "\t";

export function render(model: Model, layout: Layout, indent = ""): string {
  if (typeof model === "string") return model;
  const inner = indent + layout;
  const [open, close, parts] = isList(model)
    ? ["[", "]", model.map((each) => render(each, layout, inner))]
    : [
        "{",
        "}",
        model.members.map(
          ([key, each]) => JSON.stringify(key) + (layout ? ": " : ":") + render(each, layout, inner),
        ),
      ];
  if (parts.length === 0) return open + close;
  return layout === ""
    ? open + parts.join(",") + close
    : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

function isList(model: Exclude<Model, Raw>): model is readonly Model[] {
  return Array.isArray(model);
}

/** The model with a value at a path; what is not there yet becomes the last member. */
export function set(model: Model, [key, ...rest]: readonly string[], value: Model): Model {
  if (key === undefined) return value;
  const { members } = typeof model === "string" || isList(model) ? { members: [] } : model;
  const there = members.some(([name]) => name === key);
  const next = (old: Model) => set(old, rest, value);
  if (!there) return { members: [...members, [key, next({ members: [] })]] };
  return { members: members.map(([name, old]) => [name, name === key ? next(old) : old] as const) };
}

export const raw = (value: unknown): Raw => JSON.stringify(value);

const scalar = fc.constantFrom(
  "1",
  "-0",
  "0.10",
  "1e400",
  "-1E-400",
  "12345678901234567890",
  "3.141592653589793238462643",
  "true",
  "null",
  '"\\u0041\\/"',
  '"é😀 \\ud800"',
  '"__proto__"',
);
const name = fc.constantFrom(
  "x-own",
  "10",
  "2",
  "__proto__",
  "constructor",
  "toString",
  "été",
  "a b",
  "",
  "$ref",
);

/** Anything that belongs to another program. */
export const foreign: fc.Arbitrary<Model> = fc.letrec<{ value: Model }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    members(tie("value")),
  ),
})).value;

export function members(value: fc.Arbitrary<Model>): fc.Arbitrary<Members> {
  return fc
    .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 3 })
    .map((list) => ({ members: list }));
}

/** Our fields with others' among them, in any order. */
export function mixed(ours: Readonly<Record<string, fc.Arbitrary<Model>>>): fc.Arbitrary<Members> {
  const own = fc.tuple(
    ...Object.entries(ours).map(([key, value]) => value.map((each) => [key, each] as const)),
  );
  return fc
    .tuple(own, members(foreign))
    .chain(([known, others]) => {
      const all = [...known, ...others.members];
      return fc.shuffledSubarray(all, { minLength: all.length });
    })
    .map((list) => ({ members: list }));
}

export const just = (value: unknown): fc.Arbitrary<Model> => fc.constant(raw(value));
export const listOf = (value: fc.Arbitrary<Model>, maxLength = 3): fc.Arbitrary<Model> =>
  fc.array(value, { maxLength });
