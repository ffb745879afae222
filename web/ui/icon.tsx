import type { LucideIcon } from "lucide-react";

export type IconSize = 16 | 14 | 12;

interface IconProps {
  readonly of: LucideIcon;
  readonly size?: IconSize;
  /** What it says to someone who can't see it; without it, it is decoration beside a word. */
  readonly label?: string;
}

/** One line weight at every size. */
export function Icon({ of: Glyph, size = 16, label }: IconProps) {
  const hidden = label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label };
  return <Glyph className="i" size={size} strokeWidth={1.4} absoluteStrokeWidth {...hidden} />;
}

/** The heddle itself: an eye in the middle wire. */
export function Mark() {
  return (
    <svg className="i mark" width="16" height="16" viewBox="0 0 24 24" strokeWidth="2.1" aria-hidden="true">
      <path d="M4.5 2v20M19.5 2v20M12 2v5.2M12 16.8V22" />
      <ellipse cx="12" cy="12" rx="3.2" ry="4.8" />
    </svg>
  );
}
