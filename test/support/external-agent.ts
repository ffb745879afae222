import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type HttpAnswer, http } from "./http.js";

export const SECRET_HEADER = "key-of-the-agent-0123456789";

/** What an external agent was posted. */
export interface PostedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly sessionId: string;
    readonly agentId: string;
    readonly callbackUrl: string;
    readonly message: { readonly type: string; readonly text: string; readonly createdAt: string };
  };
}

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

type React = (post: PostedRequest, response: ServerResponse) => Reply | Promise<Reply>;

const TAKEN: Reply = { status: 202 };

/** A server that takes messages as external agents do. What it says is the test's business. */
export class ExternalAgent {
  readonly posts: PostedRequest[] = [];
  /** How it reacts to a post; default: it takes it. */
  react: React = () => TAKEN;
  readonly #server: Server;
  readonly #watchers = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", async () => {
        const text = Buffer.concat(chunks).toString();
        const post = { path: request.url ?? "", headers: request.headers, text, body: JSON.parse(text) };
        this.posts.push(post);
        for (const look of this.#watchers) look();
        const { status, headers = {}, body = "" } = await this.react(post, response);
        response.writeHead(status, headers).end(body);
      });
    });
  }

  static async start(port = 0): Promise<ExternalAgent> {
    const agent = new ExternalAgent();
    await new Promise<void>((resolve) => agent.#server.listen(port, "127.0.0.1", resolve));
    return agent;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/in/token-in-the-path`;
  }

  forget(): void {
    this.posts.length = 0;
    this.react = () => TAKEN;
  }

  /** The post with this number, from 0, once it came. */
  posted(index: number): Promise<PostedRequest> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error(`post ${index} did not come`))), 20_000);
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        settle();
      };
      const look = () => {
        const found = this.posts[index];
        if (found) end(() => resolve(found));
      };
      this.#watchers.add(look);
      look();
    });
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** One for a suite; what a test made of it is forgotten before the next. */
export function externalAgent(): { get(): ExternalAgent } {
  let agent: ExternalAgent;
  beforeAll(async () => {
    agent = await ExternalAgent.start();
  });
  beforeEach(() => agent.forget());
  afterAll(() => agent?.close());
  return { get: () => agent };
}

/** An entry of a configuration. */
export function externalEntry(inputUrl: string, more: object = {}) {
  return {
    agentId: "remote",
    displayName: "Remote",
    description: "Works elsewhere.",
    type: "external",
    external: { inputUrl, headers: { "x-agent-key": SECRET_HEADER }, ...more },
  };
}

/** Answers as an agent does: an object as JSON, text as text. */
export function answer(
  { body }: Pick<PostedRequest, "body">,
  said: object | string,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const isText = typeof said === "string";
  const type = isText ? "text/plain" : "application/json";
  return http(body.callbackUrl, {
    method: "POST",
    headers: { "content-type": type, ...headers },
    body: isText ? said : JSON.stringify(said),
  });
}
