/** What stands before a message: what the person had open and selected (002). */
export interface ContextLine {
  /** The line as it was sent: `<context … />`. */
  readonly raw: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** The line that goes along with the next message of this window; undefined: none does. */
export function contextLine(): string | undefined {
  return undefined;
}

/** A message's text apart from the context line it begins with. */
export function splitContextLine(text: string): { readonly line?: ContextLine; readonly text: string } {
  return { text };
}
