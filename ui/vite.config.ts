import { defineConfig } from "vitest/config";

const api = process.env.TRIPLESTORE_ADDRESS ?? "http://localhost:7878";

export default defineConfig({
  base: "./", // the page may be served below a path
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../triplestore/server/page/bundle",
    assetsDir: "page", // the server answers this folder without a login
    emptyOutDir: true,
    target: "es2022",
    license: { fileName: "page/licenses.txt" }, // of all that is bundled; the help links to it
    assetsInlineLimit: 0, // no data: addresses, which the Content-Security-Policy refuses
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: { comments: { legal: true } }, // notices that stand in the code of a library
    },
  },
  server: {
    // `npm run dev` beside a running `triplestore serve`
    proxy: Object.fromEntries(
      ["/api", "/query", "/subscribe", "/changes"].map((path) => [path, { target: api }]),
    ),
  },
  test: { include: ["test/**/*.test.ts"] },
});
