import { useEffect, useState } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { useContextLine } from "../../state/context-line.js";
import { client, useLink } from "../../state/gateway.js";
import { docInEffect, useTree } from "../../state/tree.js";
import { withContext } from "./send.js";

const PAUSE_MS = 600;

/**
 * About how many tokens the next message would send. A look at it costs the gateway a whole compilation, so that it is asked
 * only when typing has paused and when what is sent has changed; an answer that is out of date is dropped.
 */
export function useTokens({ id, workspace_id }: Thread, text: string, idle: boolean): number | undefined {
  const [tokens, setTokens] = useState<number | undefined>();
  const online = useLink(({ link }) => link === "open");
  const line = useContextLine();
  const doc = useTree((tree) => docInEffect(tree, tree.places.get(id)?.folder_id)?.content_sha256);
  const message = text.trim() === "" ? "" : withContext(text, line);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what applies and what was said change the figure
  useEffect(() => {
    if (!online) return;
    const newer = new AbortController();
    const ask = async () => {
      const content = message === "" ? undefined : message;
      const params = { workspace_id, thread_id: id, content };
      const { manifest } = await client.call("run/preview", params, { signal: newer.signal });
      if (!newer.signal.aborted) setTokens(manifest.window.tokens_estimate);
    };
    // Without a figure nothing is wrong: the agent may be unavailable, which stands elsewhere.
    const timer = setTimeout(() => void ask().catch(() => {}), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      newer.abort();
    };
  }, [id, workspace_id, message, idle, online, doc]);
  return tokens;
}
