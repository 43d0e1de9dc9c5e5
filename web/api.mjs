// Types of the daemon's answers, from its own document. `node api.mjs` writes them, `node api.mjs --check` fails on a difference.
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const from = "../crates/reins-serve/openapi.json";
const to = "src/dashboard/api/schema.ts";

const document = JSON.parse(await readFile(from, "utf8"));
// The pages call a few operations by hand; what these carry is what must not drift.
const types = await openapi({ ...document, paths: {} });
const text = `// Made by web/api.mjs from crates/reins-serve/openapi.json.\n\n${astToString(types)}`;
if (!process.argv.includes("--check")) await writeFile(to, text);
else if ((await readFile(to, "utf8")) !== text) {
  console.error(`web/${to} is not what ${from} says: run npm --prefix web run api`);
  process.exit(1);
}
