// The speed of the page's engine in Node: `node page_engine.mjs WEB BUILT < given.json` prints figures as JSON.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { measured } from "./page_tasks.mjs";

/** Milliseconds of processor time that this process has used: others on the machine change it little. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const [web, built] = process.argv.slice(2);
const { WasmEngine } = await import(pathToFileURL(join(web, "wasm_engine.js")));
const engine = await WasmEngine.load((name) => readFile(join(built, name)));
process.stdout.write(JSON.stringify(await measured(engine, JSON.parse(readFileSync(0, "utf8")), cpu)));
