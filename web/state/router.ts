import { useSyncExternalStore } from "react";

/** Which tab of the inspector an address names. */
export type Pane = "context" | "runs" | "artifacts";

/** What is open. Every one has an address, so that it can be linked to and Back works. */
export type Route =
  | { readonly view: "home"; readonly ws?: string | undefined }
  | {
      readonly view: "thread";
      readonly ws: string;
      readonly thread: string;
      readonly message?: string | undefined;
      readonly pane?: Pane | undefined;
      readonly run?: string | undefined;
      readonly step?: number | undefined;
      /** The context takes main and inspector together. */
      readonly full?: boolean | undefined;
      /** The run it is held against; default: the one before. */
      readonly compare?: string | undefined;
      /** Of the context: its text or its request instead of its sections. */
      readonly show?: "text" | "request" | undefined;
      /** What would be sent now, instead of what was. */
      readonly preview?: boolean | undefined;
    }
  | { readonly view: "folder"; readonly ws: string; readonly folder: string }
  | {
      readonly view: "doc";
      readonly ws: string;
      /** Absent: the root's. */
      readonly folder?: string | undefined;
      readonly version?: number | undefined;
    }
  | { readonly view: "settings"; readonly ws: string; readonly section?: string | undefined };

export type ThreadRoute = Extract<Route, { view: "thread" }>;

const PANES = new Set(["context", "runs", "artifacts"]);

export function pathOf(route: Route): string {
  if (route.view === "home") return route.ws ? `/w/${route.ws}` : "/";
  const base = `/w/${route.ws}`;
  if (route.view === "settings") return `${base}/settings${route.section ? `/${route.section}` : ""}`;
  if (route.view === "folder") return `${base}/folder/${route.folder}`;
  if (route.view === "doc") {
    const version = route.version === undefined ? "" : `?version=${route.version}`;
    return `${base}/agents-md${route.folder ? `/${route.folder}` : ""}${version}`;
  }
  return `${base}/thread/${route.thread}${threadTail(route)}`;
}

function threadTail({ message, pane, run, step, full, compare, show, preview }: ThreadRoute): string {
  if (message !== undefined) return `/message/${encodeURIComponent(message)}`;
  if (pane === undefined) return "";
  const query = new URLSearchParams();
  if (full) query.set("full", "1");
  if (compare) query.set("compare", compare);
  if (show) query.set("show", show);
  if (preview) query.set("preview", "1");
  const tail = pane === "context" && run ? `/${run}${step ? `/${step}` : ""}` : "";
  return `/${pane}${tail}${query.size > 0 ? `?${query}` : ""}`;
}

export function routeOf(url: URL): Route {
  const [w, ws, view, id, ...rest] = partsOf(url);
  if (w !== "w" || !ws) return { view: "home" };
  if (view === "settings") return { view, ws, section: id };
  if (view === "folder" && id) return { view, ws, folder: id };
  if (view === "agents-md")
    return { view: "doc", ws, folder: id, version: wholeOf(url.searchParams.get("version")) };
  if (view === "thread" && id) return threadRoute({ view: "thread", ws, thread: id }, rest, url.searchParams);
  return { view: "home", ws };
}

/** An address that somebody wrote wrongly leads to the start instead of nowhere. */
function partsOf({ pathname }: URL): string[] {
  try {
    return pathname.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return [];
  }
}

function threadRoute(base: ThreadRoute, rest: readonly string[], query: URLSearchParams): ThreadRoute {
  const [kind, first, second] = rest;
  if (kind === "message" && first) return { ...base, message: first };
  if (!kind || !PANES.has(kind)) return base;
  return {
    ...base,
    pane: kind as Pane,
    run: first,
    step: wholeOf(second),
    full: query.has("full") || undefined,
    compare: query.get("compare") ?? undefined,
    show: showOf(query.get("show")),
    preview: query.has("preview") || undefined,
  };
}

function showOf(text: string | null): ThreadRoute["show"] {
  return text === "text" || text === "request" ? text : undefined;
}

function wholeOf(text: string | null | undefined): number | undefined {
  return text && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

const listeners = new Set<() => void>();
let current = routeOf(new URL(location.href));

function changed(): void {
  current = routeOf(new URL(location.href));
  for (const listener of listeners) listener();
}
addEventListener("popstate", changed);

/** Goes there. `replace`: Back leads to where one was before, not to this. */
export function navigate(to: Route, options: { replace?: boolean } = {}): void {
  const path = pathOf(to);
  if (path === location.pathname + location.search) return;
  history[options.replace ? "replaceState" : "pushState"](null, "", path);
  changed();
}

export function currentRoute(): Route {
  return current;
}

export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
