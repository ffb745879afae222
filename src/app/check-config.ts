import { configWarnings } from "../agents/index.js";
import { HeddleError } from "../base/index.js";
import { PLUGIN_IDS } from "./compose-plugins.js";
import { readBytes, readConfigFile } from "./config-file.js";

export interface CheckedConfig {
  /** How many it names. */
  readonly agents: number;
  readonly warnings: readonly string[];
  /** Why it can't be used. */
  readonly problem?: string;
}

/** Reads the configuration of a data directory as a start would. It starts nothing, and installs no hook. */
export function checkConfigFile(dataDir: string, env: NodeJS.ProcessEnv): CheckedConfig {
  try {
    const { config, warnings } = readConfigFile({ dataDir, env });
    return { agents: config?.agents.length ?? 0, warnings: warnings.map(({ message }) => message) };
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return { agents: 0, warnings: [], problem: error.message };
  }
}

/**
 * What a file that a gateway uses says that nobody hears. It needs none of the gateway's variables. Of what can't be read
 * there is nothing: the gateway itself tells why.
 */
export function warningsInUse(file: string): readonly string[] {
  try {
    const { text } = readBytes(file);
    return configWarnings(text, file, { plugins: PLUGIN_IDS }).map(({ message }) => message);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return [];
  }
}
