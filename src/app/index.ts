export { checkConfigFile, warningsInUse } from "./check-config.js";
export { type CheckedProgram, checkPrograms } from "./check-programs.js";
export { dataDirectory, type GatewayAddress, readAddress } from "./data-dir.js";
export { type App, type AppOptions, type Listening, startApp } from "./start.js";
