import { spawn } from "node:child_process";

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", linux: "xdg-open" };

/** Shows an address in the user's browser where there is a desktop; where there is none, the printed address has to do. */
export async function openBrowser(url: string): Promise<void> {
  const opener = OPENERS[process.platform];
  const desktop = process.platform === "darwin" || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!opener || !desktop) return;
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
