// Bundles each script that runs in a browser into one self-contained file in dist/.
// Minified, because the text travels with every new document.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = {
  outdir: "dist",
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};

// Its licence asks for this in every copy.
const rrweb = {
  js: "/* Contains rrweb (https://github.com/rrweb-io/rrweb), MIT licence, copyright 2018 its contributors and SmartX Inc. */",
};

await build({ ...common, entryPoints: { page: "src/page/main.ts" } });

// Loaded only where a session is recorded. What the recorder would log would stand in the page's console.
await build({ ...common, entryPoints: { record: "src/record/main.ts" }, drop: ["console"], banner: rrweb });

// Stands in the page that shows recordings, whose policy lets this one script run and nothing else.
await build({ ...common, entryPoints: { replay: "src/replay/main.ts" }, drop: ["console"], banner: rrweb });
await build({ ...common, entryPoints: { replay: "src/replay/style.css" } });
const replay = readFileSync("dist/replay.js", "utf8").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
writeFileSync("dist/replay.js", replay);
writeFileSync("dist/replay.sha256", createHash("sha256").update(replay).digest("base64"));
