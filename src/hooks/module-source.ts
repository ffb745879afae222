/**
 * What runs in a module's own thread. A text, because a thread starts from a file that is there in every build, or from
 * a text; the command is built into one file. It may use nothing from outside.
 *
 * It answers in JSON texts: what a hook returns may be of any shape and size, and only what is small enough is sent.
 */
export const MODULE_SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
const { url, mostAnswer } = workerData;
const calls = new Map();
let hooks = [];
let written = "";

// Kept here: the gateway's own output may be a wire, and a stream to it would keep an idle gateway running.
process.stdout.write = process.stderr.write = (chunk, encoding, done) => {
  written = (written + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString())).slice(-4000);
  const told = typeof encoding === "function" ? encoding : done;
  if (told) queueMicrotask(told);
  return true;
};

const words = (error) => {
  try {
    const isError = error instanceof Error;
    const message = isError ? error.name + ": " + error.message : String(error);
    const stack = isError ? String(error.stack).slice(0, 4000) : "";
    return { message: message.slice(0, 2000), detail: [stack, written].filter(Boolean).join("\\n") };
  } catch {
    return { message: "something that can't be put into words", detail: "" };
  }
};

const describe = (found) => {
  if (!Array.isArray(found?.subscriptions)) return found ?? null;
  hooks = [...found.subscriptions];
  return { ...found, subscriptions: hooks.map((hook) => ({ ...hook, run: typeof hook?.run === "function" })) };
};

const call = async ({ id, hook, context }) => {
  const own = new AbortController();
  calls.set(id, own);
  try {
    const json = JSON.stringify((await hooks[hook].run(context, { signal: own.signal })) ?? null) ?? "null";
    parentPort.postMessage(json.length > mostAnswer ? { id, tooLarge: json.length } : { id, json });
  } catch (error) {
    parentPort.postMessage({ id, ...words(error) });
  } finally {
    calls.delete(id);
  }
};

parentPort.on("message", (message) => {
  if (!("abort" in message)) return call(message);
  calls.get(message.abort)?.abort();
  parentPort.postMessage({ id: message.abort, aborted: true });
});

import(url).then(
  (module) => parentPort.postMessage({ loaded: JSON.stringify(describe(module.default)) ?? "null" }),
).catch((error) => parentPort.postMessage({ unloadable: words(error) }));
`;
