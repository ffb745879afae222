import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where `npm run test:agents` installs the real programs. */
const INSTALLED = fileURLToPath(new URL("../../.cache/agents", import.meta.url));

export type ProgramName = "claude" | "codex" | "pi";

/** A real program, installed. */
export interface Installed {
  readonly name: ProgramName;
  readonly command: string;
  readonly version: string;
}

const PACKAGES = new URL("../../scripts/agent-programs.json", import.meta.url);

/** Undefined when it is not there, or not in the version that is tested. */
export function installed(name: ProgramName, folder = INSTALLED): Installed | undefined {
  const { package: from, version } = JSON.parse(readFileSync(PACKAGES, "utf8"))[name];
  const modules = join(folder, name, "node_modules");
  const manifest = join(modules, from, "package.json");
  if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, "utf8")).version !== version)
    return undefined;
  return { name, command: join(modules, ".bin", name), version };
}

/** How a program is pointed at the fake model. */
interface Furnished {
  readonly provider: string;
  readonly model: string;
  /** What it is to see beside what every program does. */
  readonly env: Readonly<Record<string, string>>;
}

const KEY = "not-a-key";

/** Puts what a program needs into a home of its own. `model` is where the fake model is asked. */
export function furnish(name: ProgramName, home: string, model: string): Furnished {
  return furnishers[name](home, model);
}

const furnishers: Readonly<Record<ProgramName, (home: string, model: string) => Furnished>> = {
  claude: (_, model) => ({
    provider: "claude-cli",
    model: "fake",
    env: { ANTHROPIC_BASE_URL: model.replace(/\/v1$/, ""), ANTHROPIC_API_KEY: KEY },
  }),
  codex(home, model) {
    const directory = join(home, ".codex");
    mkdirSync(directory);
    const lines = [
      'model_provider = "fake"',
      'model = "gpt-5.5"',
      "[model_providers.fake]",
      'name = "fake"',
      `base_url = "${model}"`,
      'env_key = "FAKE_KEY"',
      'wire_api = "responses"',
    ];
    writeFileSync(join(directory, "config.toml"), `${lines.join("\n")}\n`);
    return { provider: "codex-cli", model: "gpt-5.5", env: { CODEX_HOME: directory, FAKE_KEY: KEY } };
  },
  pi(home, model) {
    const directory = join(home, ".pi", "agent");
    mkdirSync(directory, { recursive: true });
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const known = {
      id: "fake",
      name: "fake",
      input: ["text"],
      cost,
      contextWindow: 400_000,
      maxTokens: 4_096,
    };
    const fake = { baseUrl: model, apiKey: "FAKE_KEY", api: "openai-completions", models: [known] };
    writeFileSync(join(directory, "models.json"), JSON.stringify({ providers: { fake } }));
    return { provider: "pi-cli", model: "fake/fake", env: { FAKE_KEY: KEY } };
  },
};

/** All that is seen of this machine: where programs are. No key, and no settings of anybody. */
export function cleanEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    TMPDIR: tmpdir(),
    LANG: "C.UTF-8",
    NO_PROXY: "127.0.0.1,localhost",
  };
}
