import { expect, test } from "vitest";
import { parseConfig } from "../agents/index.js";
import { childEnv, hookEnv } from "./child-env.js";
import { Withheld } from "./withheld.js";

const variable = (name: string) => `$${"{"}${name}}`;

test("[APP20] children get no key of a model API, nothing the configuration was filled with, and nothing of the gateway's own", () => {
  const env = {
    PATH: "/bin",
    HOME: "/home/me",
    NPM_TOKEN: "npm-needed-by-set-ups",
    OPENAI_API_KEY: "sk-openai-123456",
    ANTHROPIC_API_KEY: "sk-anthropic-123456",
    KEY: "the-key-of-a-configuration",
    COPY_OF_KEY: "the-key-of-a-configuration",
    MODE: "fast",
    ALSO_FAST: "fast",
    HEDDLE_TOKEN: "t",
    GIT_DIR: "/elsewhere",
  };
  const text = JSON.stringify({
    agents: [
      {
        agentId: "a",
        chat: {
          provider: "openai",
          model: "m",
          config: { apiKey: variable("KEY"), baseURL: `http://127.0.0.1:1/${variable("MODE")}` },
        },
      },
    ],
  });
  const { config } = parseConfig(text, { file: "/c/heddle.config.json", env });
  const names = new Withheld(config).names();
  expect(childEnv(env, names)).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    NPM_TOKEN: "npm-needed-by-set-ups",
    ALSO_FAST: "fast",
  });
  expect(hookEnv(env, names)).toEqual({ PATH: "/bin", HOME: "/home/me", ALSO_FAST: "fast" });
  expect(childEnv({ GEMINI_API_KEY: "g-123456789", A: "1" }, new Withheld(undefined).names())).toEqual({
    A: "1",
  });
});

test("[APP20] what every program needs stays, also where a configuration was filled with it", () => {
  const env = { PATH: "/usr/bin:/bin", HOME: "/home/somebody", TEAM_PAT: "pat-12345678" };
  const agents = [
    { agentId: "a", description: `${variable("HOME")} ${variable("PATH")} ${variable("TEAM_PAT")}` },
  ];
  const { config } = parseConfig(JSON.stringify({ agents }), { file: "/c/heddle.config.json", env });
  expect(childEnv(env, new Withheld(config).names())).toEqual({ PATH: env.PATH, HOME: env.HOME });
});
