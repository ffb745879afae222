import { count } from "../../ui/format.js";
import { useShowsAll } from "../../ui/sought.js";

interface LongTextProps {
  readonly text: string;
  /** As much as is shown until somebody wants all of it. */
  readonly most: number;
  /** How it is shown. */
  readonly children: (shown: string) => React.ReactNode;
}

/** The beginning of a long text, how much of it that is, and the way to all of it. */
export function LongText({ text, most, children }: LongTextProps) {
  const [all, setAll] = useShowsAll(() => text.slice(beginning(text, most).length));
  if (text.length <= most) return children(text);
  return (
    <>
      {children(all ? text : beginning(text, most))}
      <p className="rest-of small ink-3">
        <span className="num">
          {all ? `${count(text.length)} characters` : `${count(most)} of ${count(text.length)} characters`}
        </span>
        <button type="button" className="link" onClick={() => setAll(!all)}>
          {all ? "Show the beginning" : "Show all"}
        </button>
      </p>
    </>
  );
}

/** Never half of a character. */
function beginning(text: string, most: number): string {
  return text.slice(0, /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most);
}
