import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startApp } from "../../src/app/index.js";
import { buildCommand, CliHome, COMMAND, ended } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
});
afterEach(() => home.remove());

test("[CLI95] serve names a next command that works as it stands", async () => {
  for (const [env, args, wanted] of [
    [{}, [], "heddle tree ·"],
    [{ npm_lifecycle_event: "start" }, [], "node dist/bin/heddle.js tree ·"],
    [{}, ["--data", join(home.dir, "other")], `heddle tree --data ${join(home.dir, "other")} ·`],
  ] as const) {
    const child = home.spawn(["serve", "--port", "0", "--no-open", ...args], { env });
    let said = "";
    child.stdout?.on("data", (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said, { timeout: 10_000 }).toContain("Ctrl-C");
    expect(said).toContain(`in another terminal: ${wanted}`);
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  }
});

describe("the gateway a command uses", () => {
  test("[CLI1] the one that runs on its data directory, as the client cli", async () => {
    const gateway = await home.serve();
    const { folder } = await home.json("folders", "create", "Backend");
    await home.ok("agents-md", "set", "Backend", "--text", "hello");
    const response = await fetch(`${gateway.url}/rpc`, {
      method: "POST",
      headers: { Authorization: `Bearer ${gateway.token}` },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "thread/agents_doc/get",
        params: { workspace_id: folder.workspace_id, folder_id: folder.id },
      }),
    });
    const { result } = (await response.json()) as { result: { explicit: object } };
    expect(result.explicit).toMatchObject({ content: "hello", updated_by: "cli", version: 1 });
    expect(readdirSync(home.data)).not.toContain("command.json");
  });

  test("[CLI2] a private one where none runs, which leaves only data behind", async () => {
    await home.ok("folders", "create", "Backend/Payments");
    const { data } = await home.json("folders");
    expect(data.map(({ path }: { path: string[] }) => path)).toEqual([["Backend"], ["Backend", "Payments"]]);
    const left = readdirSync(home.data).filter((name) => !name.startsWith("heddle.db"));
    expect(left).toEqual(["gateway.lock"]);
  });

  test("[CLI2] --data chooses the directory", async () => {
    await home.ok("folders", "create", "Here", "--data", "own");
    expect(existsSync(join(home.cwd, "own", "heddle.db"))).toBe(true);
    expect(existsSync(home.data)).toBe(false);
    expect((await home.json("folders")).data).toEqual([]);
  });

  test("[CLI3] the address of a gateway that was killed is no obstacle", async () => {
    const gateway = await home.serve();
    await home.ok("folders", "create", "Backend");
    await gateway.stop("SIGKILL");
    expect(existsSync(join(home.data, "gateway.json"))).toBe(true);
    expect(await home.ok("tree")).toContain("Backend/");
    expect(existsSync(join(home.data, "gateway.json"))).toBe(false);
  });

  test("[CLI3] nor is one whose port belongs to another gateway by now", async () => {
    const other = new CliHome();
    try {
      const { port } = await other.serve();
      await home.ok("folders", "create", "Mine");
      const address = { url: `http://127.0.0.1:${port}`, token: "an old one", pid: process.pid };
      writeFileSync(join(home.data, "gateway.json"), JSON.stringify(address));
      expect(await home.ok("tree")).toContain("Mine/");
    } finally {
      await other.remove();
    }
  });

  test("[CLI4] commands at the same time take turns", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `Folder ${index}`);
    const runs = await Promise.all(names.map((name) => home.run(["folders", "create", `All/${name}`])));
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      names.map(() => ({ code: 0, stderr: "" })),
    );
    const { data } = await home.json("folders");
    const paths = data.map(({ path }: { path: string[] }) => path.join("/")).sort();
    expect(paths).toEqual(["All", ...names.map((name) => `All/${name}`)]);
  });
});

describe("a data directory that is taken", () => {
  test("[CLI5] by a command: the error names it after five seconds", async () => {
    const app = await startApp({ dataDir: home.data, logLevel: "silent" });
    try {
      writeFileSync(
        join(home.data, "command.json"),
        JSON.stringify({ pid: process.pid, command: "heddle agents-md import ." }),
      );
      const { code, stderr } = await home.run(["tree", "--json"]);
      expect(code).toBe(1);
      const { error } = JSON.parse(stderr);
      expect(error).toMatchObject({ kind: "data_dir.in_use", data_dir: home.data, pid: process.pid });
      expect(error.message).toContain(
        `\`heddle agents-md import .\` (process ${process.pid}) is using ${home.data}`,
      );
    } finally {
      await app.stop();
    }
  });

  test("[CLI5] by a gateway that does not answer: the error names its process", async () => {
    const gateway = await home.serve();
    gateway.process.kill("SIGSTOP");
    const { code, stderr } = await home.run(["tree"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`(process ${gateway.pid}, ${gateway.url}) does not answer`);
  });

  test("[CLI8] serve waits for its turn behind a command", async () => {
    const app = await startApp({ dataDir: home.data, logLevel: "silent" });
    const starting = home.serve();
    const stillWaiting = await Promise.race([
      starting.then(() => false),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 800)),
    ]);
    expect(stillWaiting).toBe(true);
    await app.stop();
    expect((await starting).url).toMatch(/^http:/);
  });

  test("[CLI8] serve refuses at once beside a gateway", async () => {
    const gateway = await home.serve();
    const { code, stderr } = await home.run(["serve", "--port", "0"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`process ${gateway.pid}, ${gateway.url}`);
  });
});

describe("a gateway that is named", () => {
  test("[CLI6] by flags or by the environment, flags and --data first", async () => {
    const other = new CliHome();
    try {
      const { url, token } = await other.serve();
      await other.ok("folders", "create", "Theirs");
      await home.ok("folders", "create", "Mine");
      const environment = { HEDDLE_URL: url, HEDDLE_TOKEN: token };
      expect(await home.ok("tree", "--url", url, "--token", token)).toContain("Theirs/");
      expect((await home.run(["tree"], { env: environment })).stdout).toContain("Theirs/");
      expect((await home.run(["tree", "--data", home.data], { env: environment })).stdout).toContain("Mine/");
      const flags = ["tree", "--url", url, "--token", token];
      const wrong = { HEDDLE_URL: "http://127.0.0.1:1", HEDDLE_TOKEN: "wrong" };
      expect((await home.run(flags, { env: wrong })).stdout).toContain("Theirs/");
    } finally {
      await other.remove();
    }
  });

  test("[CLI7] and can't be used: the error says why, and no private one takes its place", async () => {
    const { url } = await home.serve();
    const wrong = await home.run(["tree", "--url", url, "--token", "wrong", "--json"]);
    expect(wrong).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(wrong.stderr).error).toEqual({
      kind: "gateway.unreachable",
      url,
      message: `The gateway at ${url} can't be used: it does not accept the token.`,
    });
    const gone = await home.run(["tree", "--url", "http://127.0.0.1:1", "--token", "x"]);
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toContain("http://127.0.0.1:1 can't be used: nothing listens there");
  });
});

describe("the workspace a command works in", () => {
  const nameOf = async (cwd: string, ...args: string[]) =>
    (await home.run(["tree", ...args], { cwd })).stdout.split("  ")[0];

  test("[CLI10] the deepest whose directory holds the current one, else Home", async () => {
    await home.serve();
    for (const dir of ["shop/api/src", "shopping", "elsewhere"])
      mkdirSync(join(home.cwd, dir), { recursive: true });
    symlinkSync(join(home.cwd, "shop/api"), join(home.cwd, "elsewhere/link"));
    await home.ok("workspaces", "create", "shop");
    await home.ok("workspaces", "create", "shop/api", "--name", "The API");
    expect(await nameOf(join(home.cwd, "shop"))).toBe("shop");
    expect(await nameOf(join(home.cwd, "shop/api/src"))).toBe("The API");
    expect(await nameOf(join(home.cwd, "elsewhere/link/src"))).toBe("The API");
    expect(await nameOf(join(home.cwd, "shopping"))).toBe("Home");
    expect(await nameOf(home.cwd)).toBe("Home");
    const gone = `mkdir gone; cd gone; rmdir ../gone; "$0" "$1" tree`;
    const child = spawn("sh", ["-c", gone, process.execPath, COMMAND], { env: home.env, cwd: home.cwd });
    expect((await ended(child)).stdout).toMatch(/^Home /);
  });

  test("[CLI11] --workspace takes an id, a directory or a name", async () => {
    await home.serve();
    mkdirSync(join(home.cwd, "shop"));
    const { workspace } = await home.json("workspaces", "create", "shop", "--name", "Shop");
    for (const given of [workspace.id, "Shop", "shop", join(home.cwd, "shop"), "./shop/."]) {
      expect(await nameOf(home.cwd, "--workspace", given), given).toBe("Shop");
    }
    expect(await nameOf(join(home.cwd, "shop"), "--workspace", "Home")).toBe("Home");
  });

  test("[CLI11] one that is unknown or stands for several is refused", async () => {
    await home.serve();
    const first = await home.json("workspaces", "create", "--name", "Twin");
    const second = await home.json("workspaces", "create", "--name", "Twin");
    const both = await home.run(["tree", "--workspace", "Twin", "--json"]);
    expect(JSON.parse(both.stderr).error).toMatchObject({
      kind: "workspace.ambiguous",
      workspace_ids: [first.workspace.id, second.workspace.id],
    });
    const none = await home.run(["tree", "--workspace", "nowhere"]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("`heddle workspaces create nowhere` makes one");
    expect((await home.run(["tree", "--workspace", "ws_none"])).stderr).toContain("no workspace ws_none");
  });
});

describe("serve", () => {
  test("[CLI30] tells when it is ready, and stops on a signal", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { url, port, token, pid, process: child, stop } = await home.serve();
      expect({ url, pid }).toEqual({ url: `http://127.0.0.1:${port}`, pid: child.pid });
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(JSON.parse(readFileSync(join(home.data, "gateway.json"), "utf8"))).toEqual({ url, token, pid });
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const { code, stdout } = await stop(signal);
      expect(code).toBe(0);
      expect(stdout.trim().split("\n")).toHaveLength(1);
      expect(existsSync(join(home.data, "gateway.json"))).toBe(false);
    }
  });

  test("[CLI22] heddle alone serves", async () => {
    const child = home.spawn(["--port", "0", "--no-open", "--json"]);
    const line = await new Promise<string>((resolve) =>
      child.stdout?.once("data", (data) => resolve(String(data))),
    );
    expect(JSON.parse(line)).toMatchObject({ ready: true, pid: child.pid });
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  test("[CLI31] a taken port, an unknown store, an empty token are refused by name", async () => {
    const { port } = await home.serve();
    const taken = await home.run(["serve", "--port", String(port), "--data", "other"]);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain(`Port ${port} on 127.0.0.1 is already in use`);
    const store = await home.run(["serve", "--store", "mysql://x"]);
    expect(store.code).toBe(2);
    expect(store.stderr).toContain("mysql://x");
    const token = await home.run(["serve", "--token", ""]);
    expect(token.code).toBe(2);
    expect(token.stderr).toContain("--token");
  });

  test("[CLI31] a data directory that is a file, or below one, is refused as that", async () => {
    const file = join(home.cwd, "file");
    writeFileSync(file, "");
    const refused = async (...args: string[]) => (await home.run(args)).stderr;
    const words = "is not a directory. Choose another with --data.\n";
    expect(await refused("serve", "--port", "0", "--data", file)).toBe(
      `heddle: ${file} can't be the data directory: it ${words}`,
    );
    expect(await refused("tree", "--data", join(file, "below"))).toBe(
      `heddle: ${join(file, "below")} can't be the data directory: ${file} ${words}`,
    );
  });

  test("[CLI32] --stdio answers on standard output, opens no port and ends with its input", async () => {
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: "a", method: "ping" })}\n`;
    const { code, stdout } = await home.run(["serve", "--stdio"], { input });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      jsonrpc: "2.0",
      id: "a",
      result: { server: { name: "heddle" } },
    });
    expect(existsSync(join(home.data, "gateway.json"))).toBe(false);
  });
});
