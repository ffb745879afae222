import { type Command, InvalidArgumentError } from "commander";

/** How a command finds its gateway, and what it prints. */
export interface GatewayOptions {
  readonly data?: string;
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
}

export interface WorkspaceOptions extends GatewayOptions {
  readonly workspace?: string;
}

export const DATA_HELP = "data directory (default: $XDG_DATA_HOME/heddle or ~/.local/share/heddle)";

/** The options of every command that talks to a gateway. */
export function gatewayOptions(command: Command): Command {
  return command
    .option("--json", "print JSON, on one line")
    .optionsGroup("Gateway:")
    .option("--data <dir>", DATA_HELP, notEmpty)
    .option("--url <url>", "use the gateway at this address instead (or $HEDDLE_URL)")
    .option("--token <token>", "the token of that gateway (or $HEDDLE_TOKEN)");
}

/** The same, for commands that work within one workspace. */
export function workspaceOptions(command: Command): Command {
  command.option(
    "--workspace <id|path>",
    "id, directory or name (default: the one whose directory holds this one, else Home)",
  );
  return gatewayOptions(command);
}

export function examples(command: Command, ...lines: string[]): Command {
  const heading = lines.length === 1 ? "Example" : "Examples";
  return command.addHelpText("after", `\n${heading}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

export function notEmpty(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty.");
  return text;
}

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** `sqlite`, or the address of a PostgreSQL database. */
export function storeAddress(text: string): string {
  if (text === "sqlite" || /^postgres(ql)?:\/\/./.test(text)) return text;
  throw new InvalidArgumentError("It must be `sqlite` or an address like postgres://user@host/database.");
}
