import type { CSSProperties } from "react";
import type { Row } from "./told.js";
import { shareOf } from "./told.js";

interface StackProps {
  readonly rows: readonly Row[];
  readonly label: string;
  readonly faint?: boolean;
}

/** Shares of what was sent, in its order. What it says in colours stands in the list below in words. */
export function Stack({ rows, label, faint = false }: StackProps) {
  const total = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  const words = rows.map(({ title, tokens }) => `${title} ${shareOf(tokens, total)}`).join(", ");
  return (
    <div className={`stack${faint ? " prev" : ""}`} role="img" aria-label={`${label}: ${words}`}>
      {rows.map(({ id, tone, tokens, title }) => (
        <i
          key={id}
          className={tone}
          style={{ "--v": tokens } as CSSProperties}
          title={`${title}, ${shareOf(tokens, total)}`}
        />
      ))}
    </div>
  );
}
