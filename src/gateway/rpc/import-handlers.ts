import { importSessions, listSources } from "../../imports/index.js";
import { importThreads } from "../../threads/index.js";
import type { HandlerDeps, Handlers } from "./handler.js";

/** Threads that come from elsewhere: archives, directories, sessions of other tools. */
export function importHandlers(deps: HandlerDeps): Pick<Handlers, "thread/import" | "import/sources"> {
  return {
    "thread/import": async (params, { call }) => {
      const { from } = params;
      if (from === undefined) return importThreads(deps, params, call);
      await deps.watching.open(params.workspace_id);
      return importSessions(deps, { ...params, from }, call);
    },
    "import/sources": (params) => listSources(deps, params),
  };
}
