import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { shownKeys } from "../state/commands.js";
import { Icon, type IconSize } from "./icon.js";

interface ButtonProps extends ComponentProps<"button"> {
  readonly kind?: "plain" | "primary" | "quiet";
  readonly small?: boolean;
  readonly icon?: LucideIcon;
  /** Keys that do the same, shown behind the words. */
  readonly keys?: string;
  /** Why it can't be pressed: the tooltip says so, and it stays reachable. */
  readonly off?: string | undefined;
  readonly children: ReactNode;
}

const KINDS = { plain: "", primary: " primary", quiet: " quiet" };

export function Button(props: ButtonProps) {
  const { kind = "plain", small = false, icon, keys, off, children, className = "", ...rest } = props;
  // Not `disabled`: whoever comes by keyboard must be able to reach it and hear why.
  const because = off === undefined ? {} : { "aria-disabled": true, title: off, onClick: undefined };
  return (
    <button
      type="button"
      {...rest}
      {...because}
      className={`btn${KINDS[kind]}${small ? " sm" : ""} ${className}`}
    >
      {icon && <Icon of={icon} size={14} />}
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
}

export function IconButton(props: IconButtonProps) {
  const { icon, label, small = false, size = small ? 14 : 16, keys, className = "", ...rest } = props;
  const title = keys ? `${label} (${shownKeys(keys)})` : label;
  return (
    <button
      type="button"
      title={title}
      {...rest}
      aria-label={label}
      className={`ib${small ? " sm" : ""} ${className}`}
    >
      <Icon of={icon} size={size} />
    </button>
  );
}
