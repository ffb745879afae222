import { useLayoutEffect, useRef } from "react";

interface TypedAheadProps {
  onType(text: string): void;
  onEnter(): void;
  onClose(): void;
}

/** Takes what is typed while the palette is on its way: it must not end up in the field behind it, nor press its keys. */
export function TypedAhead({ onType, onEnter, onClose }: TypedAheadProps) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    field.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <input
      ref={field}
      className="sr"
      aria-label="Search or run"
      autoComplete="off"
      onChange={(event) => onType(event.target.value)}
      onKeyDown={({ key }) => {
        if (key === "Enter") onEnter();
        if (key === "Escape") onClose();
      }}
    />
  );
}
