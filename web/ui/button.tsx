import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { shownKeys } from "../state/commands.js";
import { Icon, type IconSize } from "./icon.js";
import { StateMark } from "./state-mark.js";
import { useShownBusy } from "./use-busy.js";

interface ButtonProps extends ComponentProps<"button"> {
  readonly kind?: "plain" | "primary" | "quiet";
  readonly small?: boolean;
  readonly icon?: LucideIcon;
  /** Keys that do the same, shown behind the words. */
  readonly keys?: string;
  /** Why it can't be pressed: the tooltip says so, and it stays reachable. */
  readonly off?: string | undefined;
  /** It was pressed and waits for an answer: it takes no second press and keeps its width. */
  readonly busy?: boolean | undefined;
  readonly children: ReactNode;
}

const WAITING = { "aria-busy": true, onClick: undefined };
const KINDS = { plain: "", primary: " primary", quiet: " quiet" };

export function Button(props: ButtonProps) {
  const { kind = "plain", small = false, icon, keys, off, busy, children, className = "", ...rest } = props;
  const waits = useShownBusy(busy === true);
  // Not `disabled`: whoever comes by keyboard must be able to reach it and hear why.
  const because = off === undefined ? {} : { "aria-disabled": true, title: off, onClick: undefined };
  return (
    <button
      type="button"
      {...rest}
      {...because}
      {...(busy && WAITING)}
      className={`btn${KINDS[kind]}${small ? " sm" : ""}${waits && !icon ? " waits" : ""} ${className}`}
    >
      {waits ? <StateMark mark="running" silent /> : icon && <Icon of={icon} size={14} />}
      {children}
      {keys && <kbd aria-hidden="true">{shownKeys(keys)}</kbd>}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<"button"> {
  readonly icon: LucideIcon;
  /** Its name, and its tooltip. */
  readonly label: string;
  readonly small?: boolean;
  readonly size?: IconSize;
  readonly keys?: string;
  readonly busy?: boolean | undefined;
}

export function IconButton(props: IconButtonProps) {
  const { icon, label, small = false, size = small ? 14 : 16, keys, busy, className = "", ...rest } = props;
  const waits = useShownBusy(busy === true);
  const title = keys ? `${label} (${shownKeys(keys)})` : label;
  return (
    <button
      type="button"
      title={title}
      {...rest}
      {...(busy && WAITING)}
      aria-label={label}
      className={`ib${small ? " sm" : ""} ${className}`}
    >
      {waits ? <StateMark mark="running" silent /> : <Icon of={icon} size={size} />}
    </button>
  );
}
