import type { Command } from "commander";
import type { Agent } from "../../protocol/index.js";
import { examples, type GatewayOptions, gatewayOptions } from "../options.js";
import { paint, print, printJson, printTable, visible } from "../output.js";
import { withSession } from "../session.js";

type Options = GatewayOptions & { readonly all?: boolean };

export function addAgents(program: Command): void {
  const command = program
    .command("agents")
    .summary("list the agents, and whether each can be used")
    .description("list the agents: those of heddle.config.json, else those that were found here")
    .option("--all", "hidden ones too");
  examples(gatewayOptions(command), "heddle agents", "heddle agents --all --json").action(list);
}

async function list(options: Options): Promise<void> {
  const result = await withSession(options, ({ call }) =>
    call("agent/list", options.all ? { include_hidden: true } : {}),
  );
  if (options.json) return printJson(result);
  if (result.data.length === 0)
    return print(paint.dim("No agents, or hidden ones only: heddle agents --all"));
  printTable(["ID", "NAME", "PROVIDER", "MODEL", "STATE"], result.data.map(row));
}

function row(agent: Agent): string[] {
  const { agent_id, display_name, provider = "", model = "", available, reason, hidden, type } = agent;
  const state = available ? paint.green("available") : paint.red(visible(reason ?? "not available"));
  return [
    visible(agent_id),
    visible(display_name),
    visible(type === "external" ? "external" : provider),
    visible(model),
    hidden ? `${state}  ${paint.dim("hidden")}` : state,
  ];
}
