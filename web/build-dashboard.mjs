// The dashboard: one script, one style sheet and one page in dist/dashboard/, each also compressed. The daemon embeds them.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const from = "src/dashboard";
const to = "dist/dashboard";

await mkdir(to, { recursive: true });
await build({
  entryPoints: { app: `${from}/main.tsx`, "app-style": `${from}/styles/main.css` },
  outdir: to,
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) await writeFile(`${to}/${name}`, await readFile(`${from}/${name}`));
for (const name of ["index.html", "icon.svg", "app.js", "app-style.css"]) {
  await writeFile(`${to}/${name}.gz`, gzipSync(await readFile(`${to}/${name}`), { level: 9 }));
}
