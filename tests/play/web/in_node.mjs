// Asks the page's engine in Node: `node in_node.mjs WEB BUILT < asked.json` prints what it answers, as JSON.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { answer } from "./asking.mjs";

const [web, built] = process.argv.slice(2);
const { WasmEngine } = await import(pathToFileURL(join(web, "wasm_engine.js")));
const engine = await WasmEngine.load((name) => readFile(join(built, name)));
process.stdout.write(JSON.stringify(await answer(engine, JSON.parse(readFileSync(0, "utf8")))));
