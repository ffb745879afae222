import { createHash } from "node:crypto";

const STYLE = `
  :root { color-scheme: light dark; --ink: #1d1b16; --soft: #6b665c; --paper: #faf8f3; --line: #e3ded2; --accent: #9a4b1f }
  @media (prefers-color-scheme: dark) { :root { --ink: #ece7db; --soft: #a39c8e; --paper: #191815; --line: #35322b; --accent: #e0925f } }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
  main { max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.75rem; margin: 0 0 .25rem; letter-spacing: -.01em }
  p { margin: .75rem 0; color: var(--soft) }
  pre { background: none; border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; overflow-x: auto; font: 14px/1.7 ui-monospace, monospace }
  b { color: var(--accent); font-weight: 600 }
`;

const hash = createHash("sha256").update(STYLE).digest("base64");

export const LANDING_POLICY = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** What a browser shows of a gateway: that it runs, and how to use it. */
export const landing = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Heddle</title>
<style>${STYLE}</style>
<main>
<h1>Heddle is running</h1>
<p>This gateway keeps your threads, folders and AGENTS.md instructions. Work with it from a terminal:</p>
<pre><b>heddle tree</b>                          the threads and folders
<b>heddle folders create Backend</b>        a folder
<b>heddle agents-md edit Backend</b>        instructions for all that is in it
<b>heddle agents-md show Backend</b>        what is in effect there, and why
<b>heddle --help</b>                        everything else</pre>
<p>Programs talk JSON-RPC to <code>/rpc</code>; the schemas are at <code>/schemas/</code>.</p>
</main>
</html>
`;
