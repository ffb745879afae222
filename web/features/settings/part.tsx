import type { ReactNode } from "react";

interface PartProps {
  readonly id: string;
  readonly title: string;
  /** What it is for, in a sentence or two. */
  readonly about?: ReactNode;
  readonly children: ReactNode;
}

/** One part of the settings. Its address leads to its heading. */
export function Part({ id, title, about, children }: PartProps) {
  return (
    <section className="set-part" aria-labelledby={`set-${id}`}>
      <h2 id={`set-${id}`} tabIndex={-1}>
        {title}
      </h2>
      {about && <p className="ink-2 set-about">{about}</p>}
      {children}
    </section>
  );
}

interface LineProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly children?: ReactNode;
}

/** A setting: what it is at the left, what it is set to at the right. */
export function Line({ label, hint, children }: LineProps) {
  return (
    <div className="set-line">
      <div className="grow">
        <div className="label">{label}</div>
        {hint && <div className="small ink-3">{hint}</div>}
      </div>
      {children}
    </div>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly on: boolean;
  readonly off?: string | undefined;
  onSwitch(on: boolean): void;
}

export function Switch({ label, on, off, onSwitch }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      className="set-switch"
      disabled={off !== undefined}
      title={off}
      onClick={() => onSwitch(!on)}
    >
      <span className={`toggle${on ? " on" : ""}`} />
    </button>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly of: readonly (readonly [T, string])[];
  onChoose(value: T): void;
}

export function Choice<T extends string>({ label, value, of, onChoose }: ChoiceProps<T>) {
  return (
    <fieldset className="seg" aria-label={label}>
      {of.map(([each, word]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChoose(each)}>
          {word}
        </button>
      ))}
    </fieldset>
  );
}

/** Something that could not be read, and the way to try again. */
export function Unread({ what, onRetry }: { readonly what: string; onRetry(): void }) {
  return (
    <p className="set-unread" role="alert">
      <span>Could not read {what}.</span>
      <button type="button" className="btn sm" onClick={onRetry}>
        Try again
      </button>
    </p>
  );
}
