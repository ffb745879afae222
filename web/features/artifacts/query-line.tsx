import { type FormEvent, useEffect, useRef, useState } from "react";
import { problemOf } from "../../state/errors.js";
import { isComposing } from "../../ui/composing.js";
import { callTool, commandTool } from "./tools.js";

interface QueryLineProps {
  readonly view: string;
  readonly query: string;
}

/** A view's query. Pressed, it can be written anew, and says what is wrong with it. */
export function QueryLine({ view, query }: QueryLineProps) {
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const leave = () => {
    setEditing(false);
    setTimeout(() => button.current?.focus());
  };
  if (editing) return <QueryField view={view} query={query} onLeave={leave} />;
  return (
    <button
      type="button"
      ref={button}
      className="query-line small"
      title="Edit the query"
      onClick={() => setEditing(true)}
    >
      <span className="sr">Query: </span>
      <code className="ink-2">{query}</code>
    </button>
  );
}

const PAUSE_MS = 250;

function QueryField({ view, query, onLeave }: QueryLineProps & { onLeave(): void }) {
  const [text, setText] = useState(query);
  const [wrong, setWrong] = useState<string | undefined>();
  const wanted = text.trim();
  useEffect(() => {
    let live = true;
    if (wanted === query || wanted === "") {
      setWrong(undefined);
      return;
    }
    const timer = setTimeout(async () => {
      const found = await callTool("views_query", { query: wanted, limit: 1 }).then(
        () => undefined,
        (error: unknown) => problemOf(error).message,
      );
      if (live) setWrong(found);
    }, PAUSE_MS);
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [wanted, query]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (wanted === query || wanted === "") return onLeave();
    try {
      await commandTool("views_update", { view, query: wanted });
      onLeave();
    } catch (error) {
      setWrong(problemOf(error).message);
    }
  };
  return (
    <form className="query-line small" onSubmit={submit}>
      <input
        aria-label="Query"
        aria-invalid={wrong !== undefined}
        aria-describedby={wrong === undefined ? undefined : `${view}-wrong`}
        value={text}
        maxLength={1_000}
        spellCheck={false}
        ref={(field) => {
          if (field && document.activeElement !== field) field.focus();
        }}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || isComposing(event)) return;
          event.stopPropagation();
          onLeave();
        }}
      />
      {wrong && (
        <p id={`${view}-wrong`} className="danger" role="alert">
          {wrong}
        </p>
      )}
    </form>
  );
}
