import { paint } from "../../output.js";
import { plainly, section } from "./plainly.js";

type Entries = Readonly<Record<string, unknown>>;

/**
 * What a configuration would have started and who would be sent what, then every word of it: what is not understood here
 * must not hide.
 */
export function configLines(content: string): string[] {
  const config = asEntries(JSON.parse(content));
  const agents = Array.isArray(config.agents) ? config.agents.map(asEntries) : [];
  return [
    ...section("agents", agents.flatMap(agentLines)),
    ...section("MCP servers", Object.entries(asEntries(config.mcpServers)).flatMap(serverLines)),
    ...section("taken from your environment", variablesIn(content)),
    ...section("all of it", JSON.stringify(config, null, 2).split("\n").map(plainly)),
  ];
}

function agentLines({ agentId, chat, external }: Entries): string[] {
  const { provider = "openai", model, config } = asEntries(chat);
  const { baseURL, command, args } = asEntries(config);
  const { inputUrl } = asEntries(external);
  const asked = [provider, model, baseURL, inputUrl].filter((one) => typeof one === "string");
  return [
    `${plainly(String(agentId))}  ${paint.dim(plainly(asked.join("  ")))}`.trimEnd(),
    ...(typeof command === "string" ? [commandLine(command, args)] : []),
  ];
}

function serverLines([name, entry]: [string, unknown]): string[] {
  const { command, args, url, enabled, cwd } = asEntries(entry);
  const off = enabled === false ? `  ${paint.dim("switched off")}` : "";
  const where = typeof cwd === "string" ? `  ${paint.dim(`in ${plainly(cwd)}`)}` : "";
  return [
    `${plainly(name)}${off}`,
    ...(typeof command === "string" ? [`${commandLine(command, args)}${where}`] : []),
    ...(typeof url === "string" ? [`  ${plainly(url)}`] : []),
  ];
}

/** Word by word: where one ends must be seen. */
function commandLine(command: string, args: unknown): string {
  const words = [command, ...(Array.isArray(args) ? args.map(String) : [])];
  const shown = words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)));
  return `  ${paint.bold("$")} ${plainly(shown.join(" "))}`;
}

function variablesIn(content: string): string[] {
  return [
    ...new Set([...content.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name as string)),
  ];
}

function asEntries(value: unknown): Entries {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Entries) : {};
}
