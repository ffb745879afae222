import type { ComponentProps, MouseEvent } from "react";
import { navigate, pathOf, type Route } from "../state/router.js";

interface LinkProps extends Omit<ComponentProps<"a">, "href"> {
  readonly to: Route;
  readonly replace?: boolean;
}

/** A link within the page. A click with a modifier opens it as any other link. */
export function Link({ to, replace = false, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to, { replace });
  };
  return <a {...rest} href={pathOf(to)} onClick={follow} />;
}
