import type { Page } from "playwright-core";

interface Asked {
  readonly id: number;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever was sent
  readonly params: any;
}

/** Stands between a page and its gateway. */
export interface Between {
  /** Every call the page made, in order. */
  readonly asked: readonly Asked[];
  /** What the page sent with calls of one method. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever was sent
  sent(method: string): any[];
  /** From now on nothing comes through to the page. */
  hold(): void;
  release(): void;
  /** Calls of a method are refused like this; undefined: no longer. */
  refuse(method: string, error: object | undefined): void;
}

/** Takes its place with a reload of the page. */
export async function between(page: Page): Promise<Between> {
  const asked: Asked[] = [];
  const refusals = new Map<string, object>();
  let waiting: (() => void)[] | undefined;
  await page.routeWebSocket(/\/rpc$/, (near) => {
    const far = near.connectToServer();
    near.onMessage((text) => {
      const message = JSON.parse(String(text)) as Asked;
      asked.push(message);
      const error = refusals.get(message.method);
      if (error) near.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
      else far.send(text);
    });
    far.onMessage((text) => {
      if (waiting) waiting.push(() => near.send(text));
      else near.send(text);
    });
  });
  await page.reload();
  return {
    asked,
    sent: (method) => asked.filter((each) => each.method === method).map(({ params }) => params),
    hold() {
      waiting ??= [];
    },
    release() {
      const late = waiting ?? [];
      waiting = undefined;
      for (const send of late) send();
    },
    refuse(method, error) {
      if (error) refusals.set(method, error);
      else refusals.delete(method);
    },
  };
}
