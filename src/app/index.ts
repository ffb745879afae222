export { checkConfigFile } from "./check-config.js";
export { dataDirectory, type GatewayAddress, readAddress } from "./data-dir.js";
export { type App, type AppOptions, type Listening, startApp } from "./start.js";
