import type { ReactNode } from "react";
import { visibleExactly } from "./visible.js";

interface OutsideLinkProps {
  readonly href: string | undefined;
  readonly children?: ReactNode;
}

/** A link that leaves the page. Where it leads is always to be seen, and it tells nobody where it was followed from. */
export function OutsideLink({ href, children }: OutsideLinkProps) {
  const url = addressOf(href);
  if (!url) return <span title={href}>{children}</span>;
  const target = visibleExactly(url.href);
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={target}>
        {children}
      </a>
      {pretends(textOf(children), url) && <span className="md-target"> ({target})</span>}
    </>
  );
}

/** An image from elsewhere would tell somebody that this was read. It is a link, with its address. */
export function RemoteImage({
  src,
  alt,
}: {
  readonly src: string | undefined;
  readonly alt?: string | undefined;
}) {
  const url = addressOf(src);
  if (!url) return <span className="md-target">Image: {alt || visibleExactly(src ?? "")}</span>;
  return (
    <span className="md-target">
      Image{alt ? ` “${alt}”` : ""}: <OutsideLink href={url.href}>{visibleExactly(url.href)}</OutsideLink>
    </span>
  );
}

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

function addressOf(href: string | undefined): URL | undefined {
  if (href === undefined || !URL.canParse(href)) return undefined;
  const url = new URL(href);
  return SCHEMES.has(url.protocol) ? url : undefined;
}

/** Its words look like an address, but of another place. */
function pretends(words: string, url: URL): boolean {
  const named = /(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[/:?#]|$|\s)/iu.exec(words)?.[1];
  if (named === undefined || !URL.canParse(`http://${named}`)) return false;
  const host = (name: string) => name.toLowerCase().replace(/^www\./, "");
  const real = url.protocol === "mailto:" ? (url.pathname.split("@").at(-1) ?? "") : url.hostname;
  return host(new URL(`http://${named}`).hostname) !== host(real);
}

function textOf(children: ReactNode): string {
  if (typeof children === "string") return children;
  if (Array.isArray(children)) return children.map(textOf).join("");
  if (children && typeof children === "object" && "props" in children)
    return textOf((children.props as { children?: ReactNode }).children);
  return "";
}
