/** Writes everything that is derived from the code: JSON Schemas, the references of protocol and tools, Biome's layer rules. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { generatedFiles } from "./generated.js";
import { biomeOverrides } from "./layers.js";

const files = generatedFiles();
for (const name of readdirSync("schemas")) {
  if (!files.has(`schemas/${name}`)) rmSync(`schemas/${name}`);
}
for (const [path, text] of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const configuration = JSON.parse(readFileSync("biome.json", "utf8"));
writeFileSync("biome.json", JSON.stringify({ ...configuration, overrides: biomeOverrides() }));
execFileSync("node_modules/.bin/biome", ["format", "--write", "biome.json"], {
  stdio: ["ignore", "ignore", "inherit"],
});
