/** One protocol's words for an answer. */
export interface Voice {
  begin(): Frame[];
  text(fragment: string): Frame[];
  thinking(fragments: readonly string[], signature: string | undefined): Frame[];
  toolCall(call: SpokenCall): Frame[];
  end(reason: Reason, usage: SpokenUsage | undefined): Frame[];
  error(error: { type: string; message: string }): Frame[];
}

export interface Frame {
  /** The event's name, where the protocol names events. */
  readonly name?: string;
  readonly data: string | object;
}

export interface SpokenCall {
  readonly id: string;
  readonly name: string;
  readonly fragments: readonly string[];
  readonly signature?: string | undefined;
}

export interface SpokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cached_input?: number | undefined;
  readonly reasoning?: number | undefined;
}

export type Reason = "stop" | "length" | "tool_calls" | "content_filter" | "other";

export const named = (data: { type: string }): Frame => ({ name: data.type, data });
