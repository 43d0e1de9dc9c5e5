// Bundles each script that runs in a browser into one self-contained file in dist/.
// Minified, because the text travels with every new document.
import { build } from "esbuild";

await build({
  entryPoints: { page: "src/page/main.ts" },
  outdir: "dist",
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
