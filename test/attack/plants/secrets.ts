import type { Hole, Plant } from "./plant.js";

const SECRETS = "test/attack/secrets.test.ts";
const leaks = {
  log: {
    file: "src/gateway/http/routes.ts",
    guard: "const body = await readBody(request, deps.limits.messageBytes);",
    hole: 'const body = await readBody(request, deps.limits.messageBytes);\n  deps.log.debug({ body }, "a request came");',
  },
  environment: {
    file: "src/app/child-env.ts",
    guard: "Object.entries(env).filter(([name, value]) => !isOurs(name, value))",
    hole: 'Object.entries(env).filter(([name, value]) => name !== "" || !isOurs(name, value))',
  },
  provider: {
    file: "src/providers/http/redact.ts",
    guard: 'rest.replaceAll(secret, "[redacted]")',
    hole: "rest.replaceAll(secret, secret)",
  },
  crash: { file: "src/cli/main.ts", guard: "keepReportsPrivate();", hole: "void keepReportsPrivate;" },
} satisfies Record<string, Hole>;

const secret = (name: string, holes: Hole[], caught: string[], more: { quick?: true } = {}): Plant => ({
  name,
  kind: "secrets",
  holes,
  into: "command",
  attack: SECRETS,
  caught,
  ...more,
});

export const secrets = [
  secret("what is sent is logged", [leaks.log], ["[ATK40]"]),
  secret("commands tell models the gateway's keys", [leaks.environment], ["[ATK41]", "[ATK42]"]),
  secret("a server's words repeat its key", [leaks.provider], ["[ATK43]", "[ATK44]"]),
  secret("a report of a crash has the environment", [leaks.crash], ["[ATK45]"]),
  secret(
    "all of these at once",
    Object.values(leaks),
    ["[ATK40]", "[ATK41]", "[ATK42]", "[ATK43]", "[ATK44]", "[ATK45]"],
    { quick: true },
  ),
];
