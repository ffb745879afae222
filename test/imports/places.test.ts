import { expect, test } from "vitest";
import { sessionPlaces } from "../../src/imports/index.js";

test("[IMP2] sessions are where a tool's own variable says, else below the home directory", () => {
  expect(sessionPlaces({ HOME: "/home/me" })).toEqual({
    claude: "/home/me/.claude",
    codex: "/home/me/.codex",
    pi: "/home/me/.pi/agent",
    opencode: "/home/me/.local/share/opencode",
  });
  expect(
    sessionPlaces({
      HOME: "/home/me",
      CLAUDE_CONFIG_DIR: "/a",
      CODEX_HOME: "/b",
      PI_CODING_AGENT_DIR: "/c",
      XDG_DATA_HOME: "/d",
    }),
  ).toEqual({ claude: "/a", codex: "/b", pi: "/c", opencode: "/d/opencode" });
  expect(sessionPlaces({ HOME: "/home/me", OPENCODE_DB: "/e/opencode.db" }).opencode).toBe("/e");
  expect(sessionPlaces({})).toEqual({});
});
