import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Message } from "../../../src/protocol/index.js";
import { Button } from "../../ui/button.js";
import { usePlace } from "./place.js";
import { useReading } from "./reading.js";
import { resend } from "./resend.js";

interface EditMessageProps {
  readonly message: Message;
  readonly text: string;
  /** The context line it was sent with; it goes along again. */
  readonly line: string | undefined;
}

/** Rewrites a message in place. It is sent in a fork, so that what was said stays. */
export function EditMessage({ message, text, line }: EditMessageProps) {
  const place = usePlace();
  const [words, setWords] = useState(text);
  const [sending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, [text]);
  const leave = () => {
    const item = field.current?.closest<HTMLElement>("[data-item]");
    useReading.setState({ editing: undefined });
    item?.focus();
  };
  const send = async () => {
    if (words.trim() === "" || sending) return;
    setSending(true);
    const sent = await resend(place, message, line === undefined ? words : `${line}\n${words}`);
    setSending(false);
    if (sent) useReading.setState({ editing: undefined });
  };
  const pressed = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
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
          off={words.trim() === "" ? "Write a message first" : sending ? "It is being sent" : undefined}
          onClick={() => void send()}
        >
          Resend
        </Button>
      </div>
    </div>
  );
}
