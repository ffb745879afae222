import { problemOf } from "../../state/errors.js";

export function Problem({ error }: { readonly error: unknown }) {
  const { message, code } = problemOf(error);
  return (
    <p className="ip small danger" role="alert">
      {message} {code && <code>{code}</code>}
    </p>
  );
}

const BARS = [58, 44, 66, 52, 48, 40];

/** The geometry of what comes: nothing moves when it does. */
export function Skeleton() {
  return (
    <div className="ip insp-skel" role="status" aria-busy="true" aria-label="Reading what was sent">
      <div className="skel total-skel" />
      <div className="skel stack-skel" />
      {BARS.map((width) => (
        <div key={width} className="skel" style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
