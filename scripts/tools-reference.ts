import { agentsPlugin } from "../src/runs/index.js";
import {
  artifactPlugins,
  bashPlugin,
  builtInTools,
  commandOptions,
  filesPlugin,
  type ListedTool,
  optionRemarks,
  optionUsage,
  Panels,
  type Plugin,
  ToolRegistry,
} from "../src/tools/index.js";

/** The built-in tools by plugin, from their declarations. Nothing here is ever called. */
export function toolsReference(): string {
  const never = () => {
    throw new Error("tools are described here, not called");
  };
  const plugins: readonly Plugin[] = [
    agentsPlugin(never),
    bashPlugin({ environment: never }),
    filesPlugin,
    ...artifactPlugins({} as never, new Panels()),
  ];
  const registry = new ToolRegistry();
  registry.register(...builtInTools);
  for (const plugin of plugins) registry.setPlugin(plugin);
  const tools = registry.list();
  const loose = tools.filter(({ plugin }) => plugin === undefined);
  return `${[
    HEADING,
    ...registry
      .plugins()
      .map(({ id, title, description, guide }) =>
        [
          `## ${title}: \`${id}\``,
          description,
          guide,
          tableOf(tools.filter(({ plugin }) => plugin === id)),
        ].filter(Boolean),
      ),
    ["## Heddle's own", "Pass every scope, and are not listed in prompts.", tableOf(loose)],
  ]
    .flat()
    .join("\n\n")}\n`;
}

const HEADING = `# Built-in tools

Generated from their declarations by \`npm run generate\`. Each is called by models, by \`heddle tool NAME\` with the options below, and by
\`tool/call\`. *Asks*: somebody is asked before an agent may call it, unless its \`toolApprovals\` say otherwise. Tools of MCP servers are
\`mcp_<server>_<tool>\` with the capability \`mcp.<server>\`.`;

function tableOf(tools: readonly ListedTool[]): string {
  const rows = tools.map(({ name, description, capabilities, asks, parameters }) => {
    const options = commandOptions(parameters).map((option) => {
      const usage = `\`${option.name === undefined ? option.key : optionUsage(option)}\``;
      const remarks = optionRemarks(option);
      return `${usage}${remarks ? `: ${remarks}` : ""}`;
    });
    const needs = [...capabilities.map((capability) => `\`${capability}\``), ...(asks ? ["*asks*"] : [])];
    return `| \`${name}\` | ${cell(description)} | ${needs.join(", ")} | ${options.map(cell).join("<br>")} |`;
  });
  return ["| Tool | What it does | Needs | Options |", "|---|---|---|---|", ...rows].join("\n");
}

function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|");
}
