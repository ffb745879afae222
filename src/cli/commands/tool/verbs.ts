export { callTool } from "./call.js";
export { listTools } from "./list.js";
