import { z } from "zod";
import { plainWords } from "../base/index.js";
import { callCommand, type HookCommand } from "./command-call.js";
import { problemsOf } from "./errors.js";
import { loadHookModule } from "./module-package.js";
import {
  acceptPackage,
  type HookPackage,
  invalidPackage,
  packageShape,
  subscriptionShape,
} from "./package.js";

const commandPackageSchema = z
  .strictObject({
    ...packageShape,
    /** A program and its arguments, started as they stand. */
    command: z.tuple([z.string().min(1)], z.string()).optional(),
    /** A line for the system's shell instead. */
    shell: z.string().min(1).optional(),
    /** Where it runs; default: the directory its configuration stands for. */
    cwd: z.string().min(1).optional(),
    subscriptions: z.array(z.strictObject(subscriptionShape)),
  })
  .refine(({ command, shell }) => (command === undefined) !== (shell === undefined), {
    error: "needs either command or shell",
  });

const moduleEntrySchema = z.strictObject({
  /** The absolute path of a file. */
  module: z.string().min(1),
});

/** A user's package as a configuration names it: a module, or a command with its subscriptions. */
export const userPackageSchema = z.union([moduleEntrySchema, commandPackageSchema]);

export type UserPackage = z.input<typeof userPackageSchema>;

export interface UserPackageOptions {
  /** All of the environment that its hooks see. */
  readonly env: NodeJS.ProcessEnv;
  /** Where commands run unless they say otherwise. */
  readonly cwd: string;
}

/** Makes a package that can be installed. Who opens a package closes it, unless it was installed. */
export async function openUserPackage(given: UserPackage, options: UserPackageOptions): Promise<HookPackage> {
  if ("module" in given) return loadHookModule(parsed(moduleEntrySchema, given).module, options);
  return commandPackage(parsed(commandPackageSchema, given), options);
}

/** Each call of one of its hooks runs the command once, with the hook's context as JSON on its standard input. */
function commandPackage(
  entry: z.output<typeof commandPackageSchema>,
  options: UserPackageOptions,
): HookPackage {
  const { command, shell, cwd = options.cwd, subscriptions, ...rest } = entry;
  const line: HookCommand["line"] = shell === undefined ? (command as [string, ...string[]]) : { shell };
  const made: HookPackage = {
    ...rest,
    source: { kind: "command", command: shell ?? (command ?? []).join(" ") },
    subscriptions: subscriptions.map((subscription) => ({
      ...subscription,
      run: async (context, { signal }) =>
        (await callCommand({ line, cwd, env: options.env }, JSON.stringify(context), signal)) as undefined,
    })),
  };
  acceptPackage(made);
  return made;
}

function parsed<T extends z.ZodType>(schema: T, given: UserPackage): z.output<T> {
  const result = schema.safeParse(given, { error: plainWords });
  if (result.success) return result.data;
  throw invalidPackage(given, problemsOf(result.error));
}
