import { type ClipboardEvent, type KeyboardEvent, type RefObject, useLayoutEffect } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { type Draft, setDraft } from "../../state/drafts.js";
import { isComposing } from "../../ui/composing.js";
import { addImages } from "./images.js";
import { MentionList } from "./mention-list.js";
import { useMention } from "./use-mention.js";

interface FieldProps {
  readonly thread: Thread;
  readonly draft: Draft;
  readonly placeholder: string;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  onSend(): void;
  onSteer(): void;
  /** Up in an empty field. */
  onUp(): void;
}

/** Where a message is written. */
export function Field({ thread, draft, placeholder, field, onSend, onSteer, onUp }: FieldProps) {
  const { text, to } = draft;
  const mention = useMention(thread, text);
  useGrowth(field, text);
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event) || mention.pressed(event)) return;
    const act = actionOf(event, draft, { onSend, onSteer, onUp });
    if (act === "unaddress") setDraft(thread.id, { to: undefined });
    else if (act === "leave") event.currentTarget.blur();
    else act?.();
    if (act) event.preventDefault();
  };
  return (
    <div className="field-box">
      {mention.open && (
        <MentionList
          id={mention.id}
          agents={mention.agents}
          at={mention.at}
          onMove={mention.setAt}
          onChoose={mention.choose}
        />
      )}
      <textarea
        ref={field}
        className="field"
        rows={1}
        aria-label={to === undefined ? "Message" : "Message to another agent"}
        placeholder={placeholder}
        value={text}
        enterKeyHint="send"
        {...mention.field}
        onChange={({ target }) => {
          setDraft(thread.id, { text: target.value });
          mention.moved(target.value, target.selectionEnd);
        }}
        onSelect={({ currentTarget }) => mention.moved(currentTarget.value, currentTarget.selectionEnd)}
        onKeyDown={pressed}
        onPaste={(event) => pasted(event, thread.id)}
      />
    </div>
  );
}

type Actions = Pick<FieldProps, "onSend" | "onSteer" | "onUp">;

function actionOf(event: KeyboardEvent<HTMLTextAreaElement>, draft: Draft, actions: Actions) {
  const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
  const mod = ctrlKey || metaKey;
  if (key === "Enter" && mod && !shiftKey) return actions.onSteer;
  if (key === "Enter" && !shiftKey && !altKey) return actions.onSend;
  if (key === "ArrowUp" && draft.text === "" && !mod && !shiftKey && !altKey) return actions.onUp;
  if (key === "Escape") return "leave";
  if (key === "Backspace" && draft.text === "" && draft.to !== undefined) return "unaddress";
  return undefined;
}

/** Images alone are taken; where there is text too, as from a table, the text is what is meant. */
function pasted(event: ClipboardEvent<HTMLTextAreaElement>, threadId: string): void {
  const { files } = event.clipboardData;
  if (files.length === 0 || event.clipboardData.getData("text/plain") !== "") return;
  event.preventDefault();
  void addImages(threadId, [...files]);
}

/** As high as its text. How high at most is the style's affair. */
export function useGrowth(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    const grow = () => {
      area.style.height = "auto";
      area.style.height = `${area.scrollHeight}px`;
    };
    grow();
    let width = area.clientWidth;
    const watch = new ResizeObserver(() => {
      if (area.clientWidth === width) return;
      width = area.clientWidth;
      grow();
    });
    watch.observe(area);
    return () => watch.disconnect();
  }, [field, text]);
}
