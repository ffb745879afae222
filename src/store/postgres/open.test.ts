import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addWorkspace } from "../../../test/contract/support/rows.js";
import { administrate, onPostgres, type StorePlace } from "../../../test/support/stores.js";
import type { HeddleError } from "../../base/index.js";
import { openStore, workspaces } from "../index.js";

const holder = fileURLToPath(new URL("../../../test/contract/children/hold-store.ts", import.meta.url));

/** Opening must fail; the error, which must hold the password nowhere. */
async function refusal(location: string, secret?: string): Promise<HeddleError> {
  const error: HeddleError = await openStore(location).then(
    () => expect.unreachable("it was opened"),
    (e) => e,
  );
  if (secret !== undefined) {
    const cause = error.cause as Error | undefined;
    const everything = [
      error.message,
      error.stack,
      JSON.stringify(error),
      String(cause),
      JSON.stringify(cause),
    ];
    expect(everything.join("\n")).not.toContain(secret);
  }
  return error;
}

onPostgres("one gateway per database", (kind) => {
  let place: StorePlace;
  beforeEach(async () => {
    place = await kind.empty();
  });
  afterEach(() => place?.remove());

  test("[STO90] a second gateway is refused while the first is there, and the first does not notice", async () => {
    const first = await openStore(place.store);
    const { pathname } = new URL(place.store);
    for (let n = 0; n < 2; n++) {
      const { kind, data, message } = await refusal(place.store);
      expect({ kind, data }).toEqual({
        kind: "store.taken",
        data: { data_dir: `postgres://localhost${pathname}` },
      });
      expect(message).toMatch(/Another gateway is using/);
    }
    await first.write({ key: "ws" }, () => addWorkspace("ws"));
    await first.close();
    const second = await openStore(place.store);
    expect((await second.read(() => workspaces.findWorkspace("ws")))?.name).toBe("ws");
    await second.close();
  });

  test("[STO90] another database on the same server is free", async () => {
    const other = await kind.empty();
    const stores = await Promise.all([openStore(place.store), openStore(other.store)]);
    for (const store of stores) await store.check();
    for (const store of stores) await store.close();
    await other.remove();
  });

  test("[STO90] the database is free when its gateway is killed", async () => {
    const child = spawn(process.execPath, ["--import", "tsx", holder, place.store], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    expect((await refusal(place.store)).kind).toBe("store.taken");
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
    // The server has to notice that the connection is gone.
    await expect.poll(() => attempt(place.store), { timeout: 5_000 }).toBe("opened");
  });
});

async function attempt(location: string): Promise<string> {
  try {
    await (await openStore(location)).close();
    return "opened";
  } catch (error) {
    return (error as HeddleError).kind;
  }
}

onPostgres("a database that can't be had", (kind) => {
  const secret = "s3cr3t-pa55";
  const role = "heddle_with_password";
  let place: StorePlace;
  beforeEach(async () => {
    place = await kind.empty();
  });
  afterEach(() => place?.remove());

  function address(changes: { user?: string; host?: string; port?: string; database?: string }): string {
    const url = new URL(place.store);
    url.username = changes.user ?? url.username;
    url.password = secret;
    if (changes.host) {
      url.searchParams.delete("host");
      url.hostname = changes.host;
      url.port = changes.port ?? "";
    }
    if (changes.database) url.pathname = changes.database;
    return url.href;
  }

  test("[STO91] nobody listening, an unknown host, database or user: unavailable, with the address and why", async () => {
    const failures: [string, string, RegExp][] = [
      [address({ host: "127.0.0.1", port: "1" }), "postgres://127.0.0.1:1/", /ECONNREFUSED/],
      [address({ host: "no-such-host.invalid" }), "postgres://no-such-host.invalid/", /ENOTFOUND|EAI_AGAIN/],
      [address({ database: "/no_such_database" }), "postgres://localhost/no_such_database", /does not exist/],
      [address({ user: "no_such_user" }), "postgres://localhost/", /does not exist/],
      [`postgres://u:${secret}@localhost/db?host=/no/such/directory`, "postgres://localhost/db", /ENOENT/],
    ];
    for (const [location, name, why] of failures) {
      const { kind, data, message } = await refusal(location, secret);
      expect(kind).toBe("store.unavailable");
      expect(String(data.store)).toContain(name);
      expect(message).toContain(name);
      expect(message).toMatch(why);
    }
  });

  test("[STO91] an address that is none, or whose password is not encoded, tells nothing of the password", async () => {
    const odd = [
      `postgres://u:${secret}@localhost:notaport/db`,
      `postgres://u:12/${secret}@localhost/db`,
      `postgres://u:${secret}#x@localhost:1/db`,
      `postgres://u:${secret}@/db?host=/no/such/directory`,
      `postgres://u:x@localhost:1/db?password=${secret}`,
    ];
    for (const location of odd) {
      const { kind, data } = await refusal(location, secret);
      expect([location, kind]).toEqual([location, "store.unavailable"]);
      expect(JSON.stringify(data)).not.toContain(secret);
    }
  });

  test("[STO92] a wrong or missing password: unavailable, and the message says so", async () => {
    const [{ hba_file: file }] = (await administrate("show hba_file")).rows;
    const rules = (await administrate("select pg_read_file('pg_hba.conf') as text")).rows[0].text as string;
    const rule = `local all ${role} scram-sha-256`;
    const install = async (lines: string[]) => {
      const values = lines.map((line) => `('${line.replaceAll("'", "''")}')`).join(", ");
      await administrate(`copy (values ${values}) to '${file}'`);
      await administrate("select pg_reload_conf()");
    };
    const lines = rules.split("\n").filter((line) => /^(local|host)/.test(line));
    await administrate(`drop role if exists ${role}`);
    await administrate(`create role ${role} login password 'another'`);
    await install([rule, ...lines]);
    try {
      await expect
        .poll(async () => (await refusal(address({ user: role }), secret)).message)
        .toMatch(/can't be reached: password authentication failed for user/);
      const without = new URL(place.store);
      without.username = role;
      const { kind, message } = await refusal(without.href);
      expect([kind, message]).toEqual(["store.unavailable", expect.stringMatching(/password/)]);
    } finally {
      await install(lines);
      await administrate(`drop role ${role}`);
    }
  });

  test("[STO93] a user who may not make tables is told so", async () => {
    const reader = "heddle_without_rights";
    await administrate(`drop role if exists ${reader}`);
    await administrate(`create role ${reader} login`);
    await administrate("revoke create on schema public from public", place.store);
    const url = new URL(place.store);
    url.username = reader;
    const { kind, message } = await refusal(url.href);
    expect(kind).toBe("store.read_only");
    expect(message).toMatch(/check the permissions/);
    await administrate(`drop role ${reader}`);
  });

  test("[STO94] the name of a store is its address without user and password", async () => {
    const store = await openStore(address({}));
    expect([store.kind, store.name]).toEqual([
      "postgres",
      `postgres://localhost${new URL(place.store).pathname}`,
    ]);
    await store.close();
  });
});
