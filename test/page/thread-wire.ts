import type { Page } from "playwright-core";

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Told {
  readonly id?: number;
  readonly method?: string;
  readonly result?: object;
}

/** A connection that is slow, breaks and forgets. */
export interface Wire {
  /** Notifications that reached the page. */
  readonly told: readonly string[];
  /** Answers to calls of this method are held back from now on. */
  late(method: string): void;
  /** How many answers are held back. */
  held(): number;
  /** What was held back comes, and nothing is held back any more. */
  letGo(): void;
  /** The connection breaks, and stays broken until it is mended. */
  cut(): void;
  /** It breaks when the page makes such a call, once, and can be made anew at once. */
  breakAt(meant: (asked: Asked) => boolean): void;
  /** There can be connections again, but the gateway no longer has what was missed. */
  mendForgetful(): void;
}

/** Takes its place with a reload of the page. */
export async function wireOf(page: Page): Promise<Wire> {
  const told: string[] = [];
  const held: (() => void)[] = [];
  let late: string | undefined;
  let broken = false;
  let forgets = false;
  let breaks: ((asked: Asked) => boolean) | undefined;
  let close = () => {};
  await page.routeWebSocket(/\/rpc$/, (near) => {
    if (broken) return void near.close();
    const far = near.connectToServer();
    const calls = new Map<number, Asked>();
    close = () => {
      void near.close();
      void far.close();
    };
    near.onMessage((text) => {
      const asked = JSON.parse(String(text)) as Asked;
      calls.set(asked.id, asked);
      if (!breaks?.(asked)) return far.send(text);
      breaks = undefined;
      close();
    });
    far.onMessage((text) => {
      const message = JSON.parse(String(text)) as Told;
      const asked = calls.get(message.id ?? -1);
      if (message.method !== undefined) told.push(message.method);
      if (asked !== undefined && asked.method === late) return void held.push(() => near.send(text));
      const resumes = asked?.method === "subscribe" && asked.params.after_seq !== undefined;
      if (!forgets || !resumes) return near.send(text);
      near.send(JSON.stringify({ ...message, result: { ...message.result, resync: true } }));
    });
  });
  await page.reload();
  return {
    told,
    late(method) {
      late = method;
    },
    held: () => held.length,
    letGo() {
      late = undefined;
      for (const send of held.splice(0)) send();
    },
    cut() {
      broken = true;
      close();
    },
    breakAt(meant) {
      breaks = meant;
    },
    mendForgetful() {
      forgets = true;
      broken = false;
    },
  };
}

/** Goes to another address of the page without loading it anew. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
}
