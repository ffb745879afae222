import { useMemo, useState } from "react";
import { count } from "../../ui/format.js";
import { CopyButton } from "./copy-button.js";
import type { StepContext } from "./data.js";

/** The exact body, as it was sent; easier to read on request. */
export function RequestText({
  request,
  sent,
}: {
  readonly request: StepContext["request"];
  readonly sent: boolean;
}) {
  const { url, body, sha256, exact } = request;
  const pretty = useMemo(() => prettied(body), [body]);
  const [raw, setRaw] = useState(false);
  const asSent = raw || pretty === undefined;
  return (
    <div className="whole">
      <div className="whole-h">
        <code className="cut" title={url}>
          {url}
        </code>
        <span className={`small ${exact === false ? "danger" : "ink-3"} exactness`}>
          {exactness(sent, exact)}
        </span>
        <span className="grow" />
        <span className="small ink-3 num">{count(new TextEncoder().encode(body).length)} bytes</span>
        {pretty !== undefined && (
          <div className="seg" role="group" aria-label="How it is shown">
            <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
              Indented
            </button>
            <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
              As sent
            </button>
          </div>
        )}
        <CopyButton text={body} label="Copy the request as sent" />
      </div>
      <section className="whole-text" tabIndex={0} aria-label="Body of the request">
        {sha256 && (
          <p className="seam">
            <code>sha256:{sha256}</code>
          </p>
        )}
        <pre className="words body-words" data-as={asSent ? "sent" : "indented"}>
          {pieces(asSent ? body : pretty).map((piece, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have nothing else
            <span key={at}>{piece}</span>
          ))}
        </pre>
      </section>
    </div>
  );
}

function exactness(sent: boolean, exact: boolean | undefined): string {
  if (!sent) return "Would be sent";
  if (exact === undefined) return "Not known to have been sent";
  return exact ? "Sent, byte for byte" : "Its bytes can’t be given back as they were sent";
}

function prettied(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return undefined;
  }
}

const PIECE = 200_000;

/** A body of megabytes as one text would be laid out whole; in pieces only what is seen is. */
function pieces(text: string): string[] {
  if (text.length <= PIECE) return [text];
  const all: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + PIECE);
    const line = text.lastIndexOf("\n", end);
    const to = line > at ? line + 1 : end;
    all.push(text.slice(at, to));
    at = to;
  }
  return all;
}
