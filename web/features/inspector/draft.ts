import type { RunContent } from "../../../src/protocol/index.js";
import { useContextLine } from "../../state/context-line.js";
import { useDraft } from "../../state/drafts.js";
import { contentOf } from "../../state/outbox.js";
import { isSendable, withContext } from "../composer/send.js";

/** What Send would send now, for the key of a query and as the gateway takes it. */
interface NextMessage {
  readonly key: string;
  read(): Promise<RunContent | undefined>;
}

/** Undefined: nothing stands in the composer that would go to this thread. */
export function useNextMessage(thread_id: string): NextMessage | undefined {
  const { text, images, to } = useDraft(thread_id);
  const line = useContextLine();
  if (to !== undefined || !isSendable({ text, images })) return undefined;
  const whole = withContext(text, line);
  return {
    key: JSON.stringify([whole, images]),
    read: () => contentOf({ text: whole, images }),
  };
}
