import { defineConfig } from "vite";

/** `npm run build` writes the page into the package, where the gateway serves it from. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2023",
    // A data: address in a style sheet would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The editor with its parsers; it is loaded when a document is opened.
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      // "use client" says something about a server that we do not have.
      onwarn: (warning, warn) => warning.code === "MODULE_LEVEL_DIRECTIVE" || warn(warning),
    },
  },
});
