/**
 * Parts of the browser's own frame that are pages themselves, each with a process for every window: nobody sees them here.
 * The last list of such names counts, so those of the driver that matter stand here again.
 */
const LEFT_OUT = [
  "InitialWebUI",
  "PreloadTopChromeWebUI",
  "WebUIBackForwardButton",
  "WebUIHomeButton",
  "WebUILocationBar",
  "WebUIOmniboxPopup",
  "WebUIReloadButton",
  "WebUISplitTabsButton",
  "WebUIToolbar",
  "HttpsUpgrades",
  "MediaRouter",
  "OptimizationHints",
  "PaintHolding",
];

/** How a browser is started for tests and measurements. */
export const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--force-color-profile=srgb",
  `--disable-features=${LEFT_OUT.join(",")}`,
];
