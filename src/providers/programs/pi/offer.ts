import type { Turn } from "../program.js";

/** What pi has by itself: a tool of Heddle's with such a name would take its place. */
const OWN_TOOLS = new Set(["read", "bash", "edit", "write", "grep", "find", "ls"]);

/** What our extension is told at the beginning of a turn. */
export interface Offer {
  readonly own: boolean;
  readonly instructions: string;
  readonly tools: readonly OfferedTool[];
  readonly bridge?: { readonly url: string; readonly token: string };
}

interface OfferedTool {
  /** In pi. */
  readonly name: string;
  /** In Heddle. */
  readonly as: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export function offerOf({ instructions, tools, work }: Turn): Offer {
  const { bridge, ownTools: own } = work;
  return {
    own,
    instructions,
    // Without a bridge they could only fail.
    tools: bridge
      ? tools.map(({ name, description, parameters }) => {
          return { name: nameInPi(name, own), as: name, description, parameters };
        })
      : [],
    ...(bridge && { bridge: { url: bridge.url, token: bridge.token } }),
  };
}

function nameInPi(name: string, own: boolean): string {
  return own && OWN_TOOLS.has(name) ? `heddle_${name}` : name;
}
