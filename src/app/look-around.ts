import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { type FoundProgram, type FoundServer, programNames } from "../agents/index.js";
import { whereIs } from "./where-is.js";

/** Where agents are looked for, besides keys in the environment. */
export interface Around {
  /** Servers that speak the OpenAI API. */
  readonly servers: readonly LocalServer[];
  /** As the variable `PATH` has it. */
  readonly path: string;
  /** What programs are looked at with: their versions and sign-ins. Without it nobody looks. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface LocalServer {
  readonly agentId: string;
  readonly displayName: string;
  readonly baseURL: string;
}

/** On this machine. `HEDDLE_DETECT=off` has nothing looked for. */
export function aroundHere(env: NodeJS.ProcessEnv): Around {
  if (env.HEDDLE_DETECT === "off") return { servers: [], path: "" };
  const ollama = ollamaAddress(env.OLLAMA_HOST ?? "");
  return {
    servers: [
      ...(ollama === undefined ? [] : [{ agentId: "ollama", displayName: "Ollama", baseURL: ollama }]),
      { agentId: "lmstudio", displayName: "LM Studio", baseURL: "http://127.0.0.1:1234/v1" },
    ],
    path: env.PATH ?? "",
    env,
  };
}

/** A host, a port or an address, as Ollama itself reads it. Where it listens on every address, it is on this machine too. */
function ollamaAddress(given: string): string | undefined {
  const text = given.trim() || "127.0.0.1:11434";
  const whole = /^https?:\/\//.test(text)
    ? text
    : `http://${text.startsWith(":") ? `127.0.0.1${text}` : text}`;
  if (!URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  const hasPort =
    /:\d+$/.test(text.replace(/\/.*$/, "").replace(/^https?:\/\//, "")) || /^https?:/.test(text);
  if (!hasPort) url.port = "11434";
  if (["0.0.0.0", "[::]"].includes(url.hostname)) url.hostname = "127.0.0.1";
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/v1`;
}

/** Never throws. What does not answer in time, or not in the way of such a server, is not there. */
export async function lookAround(
  { servers, path }: Around,
  stop: AbortSignal,
): Promise<{
  servers: FoundServer[];
  programs: FoundProgram[];
}> {
  const asked = await Promise.all(
    servers.map(async (server) => {
      const model = await firstModel(server.baseURL, stop).catch(() => undefined);
      return model === undefined ? [] : [{ ...server, model }];
    }),
  );
  return { servers: asked.flat(), programs: programsOn(path) };
}

/** A look only: nothing is started. */
export function programsOn(path: string): FoundProgram[] {
  return programNames.flatMap((program) => {
    const found = whereIs(program, path);
    return found === undefined ? [] : [{ program, path: found }];
  });
}

const PATIENCE_MS = 1_000;
const MOST_BYTES = 1024 * 1024;

async function firstModel(baseURL: string, stop: AbortSignal): Promise<string | undefined> {
  const { data } = JSON.parse(await textAt(`${baseURL}/models`, stop)) as { data?: unknown };
  const ids = (Array.isArray(data) ? data : [])
    .map((one: { id?: unknown } | null) => one?.id)
    .filter((id): id is string => typeof id === "string" && /^[^\p{C}\s]{1,255}$/u.test(id));
  // One that turns texts into numbers answers nobody.
  return ids.find((id) => !/embed/i.test(id));
}

/** What a plain answer of a server holds; redirects lead elsewhere, and are none. */
function textAt(url: string, stop: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const ask = url.startsWith("https:") ? secureRequest : request;
    const asking = ask(
      url,
      { signal: stop, agent: false, headers: { accept: "application/json" } },
      (answer) => {
        let bytes = 0;
        const chunks: Buffer[] = [];
        answer.on("error", reject);
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MOST_BYTES) asking.destroy(new Error("too long"));
          else chunks.push(chunk);
        });
        answer.on("end", () =>
          answer.statusCode === 200
            ? resolve(Buffer.concat(chunks).toString("utf8"))
            : reject(new Error(`status ${answer.statusCode}`)),
        );
      },
    );
    const late = setTimeout(() => asking.destroy(new Error("late")), PATIENCE_MS);
    asking.on("error", reject);
    asking.on("close", () => {
      clearTimeout(late);
      reject(new Error("closed"));
    });
    asking.end();
  });
}
