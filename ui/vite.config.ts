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
    assetsInlineLimit: 0, // no data: addresses, which the Content-Security-Policy refuses
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: {
    // `npm run dev` beside a running `triplestore serve`
    proxy: Object.fromEntries(
      ["/api", "/query", "/subscribe", "/changes"].map((path) => [path, { target: api }]),
    ),
  },
  test: { include: ["test/**/*.test.ts"] },
});
