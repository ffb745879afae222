import { createServer, connect as dial, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { TestGateway } from "../gateway.js";

/** What a browser says when its connection breaks. */
export const CUT = /WebSocket connection|Failed to load resource|net::ERR/;

/** The line between a browser and a gateway, which can be cut. */
export interface Line {
  /** The gateway as it is reached over the line. */
  readonly gateway: TestGateway;
  /** Breaks every connection and takes no more. */
  cut(): void;
  mend(): void;
  /** What is asked still arrives, and nothing comes back: as from a gateway that dies before it answers. */
  deafen(): void;
  /** From now on it leads to another gateway. */
  lead(to: TestGateway): void;
}

export async function lineTo(first: TestGateway): Promise<Line> {
  let target = first;
  let state: "whole" | "deaf" | "cut" = "whole";
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    if (state === "cut") return near.destroy();
    const far = dial(Number(new URL(target.url).port), "127.0.0.1");
    for (const end of [near, far]) {
      ends.add(end);
      end.on("error", () => {});
      end.on("close", () => {
        ends.delete(end);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on("data", (data) => state === "deaf" || near.write(data));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const drop = () => {
    for (const end of ends) end.destroy();
  };
  onTestFinished(() => {
    drop();
    server.close();
  });
  return {
    gateway: { ...first, url, pageUrl: () => target.pageUrl().replace(target.url, url) },
    cut() {
      state = "cut";
      drop();
    },
    mend() {
      state = "whole";
    },
    deafen() {
      state = "deaf";
    },
    lead(to) {
      target = to;
    },
  };
}
