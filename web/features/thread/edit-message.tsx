import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Message } from "../../../src/protocol/index.js";
import { Button } from "../../ui/button.js";
import { isComposing } from "../../ui/composing.js";
import { usePlace } from "./place.js";
import { endEditing, useReading } from "./reading.js";
import { resend } from "./resend.js";
import { rewriteOf, setRewrite, useRewrite } from "./rewrites.js";

interface EditMessageProps {
  readonly message: Message;
  readonly text: string;
  /** The context line it was sent with; it goes along again. */
  readonly line: string | undefined;
}

/** Rewrites a message in place. It is sent in a fork, so that what was said stays. */
export function EditMessage({ message, text, line }: EditMessageProps) {
  const place = usePlace();
  const words = useRewrite(place, message.id) ?? text;
  const setWords = (to: string) => setRewrite(place, message.id, to === text ? undefined : to);
  const [sending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!useReading.getState().beginsEditing) return;
    useReading.setState({ beginsEditing: undefined });
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);
  const leave = () => {
    const item = field.current?.closest<HTMLElement>("[data-item]");
    endEditing(message.id);
    setRewrite(place, message.id, undefined);
    item?.focus();
  };
  const send = async () => {
    if (words.trim() === "" || sending) return;
    setSending(true);
    const sent = await resend(place, message, line === undefined ? words : `${line}\n${words}`);
    setSending(false);
    // What was typed while it was sent is not sent.
    if (!sent || (rewriteOf(place, message.id) ?? text) !== words) return;
    endEditing(message.id);
    setRewrite(place, message.id, undefined);
  };
  const pressed = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    }
  };
  return (
    <div className="edit">
      <textarea
        ref={field}
        aria-label="Edit the message"
        value={words}
        onChange={({ target }) => setWords(target.value)}
        onKeyDown={pressed}
      />
      <div className="btns">
        <span className="small ink-3 grow">Sent in a fork of this thread; this one stays as it is</span>
        <Button small onClick={leave}>
          Keep it
        </Button>
        <Button
          small
          kind="primary"
          keys="enter"
          off={words.trim() === "" ? "Write a message first" : undefined}
          busy={sending}
          onClick={() => void send()}
        >
          Resend
        </Button>
      </div>
    </div>
  );
}
