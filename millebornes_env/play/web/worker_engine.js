// The engine of `wasm_engine.js` in a Web Worker, so that the page stays responsive while an agent thinks.

import { EngineError } from "./wasm_kernels.js";

const METHODS = [
  "catalogue", "rules", "start", "load", "goto", "save", "record", "position", "play", "undo", "why_not", "log", "choose", "think",
];

/** The engine, an object with the methods of `WasmEngine`. */
export function createEngine() {
  const worker = new Worker(new URL("wasm_worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let last = 0;
  worker.addEventListener("message", ({ data: { id, result, error } }) => {
    const [resolve, reject] = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new EngineError(error));
  });
  worker.addEventListener("error", ({ message }) => {
    for (const [, reject] of waiting.values()) reject(new EngineError(`The game's engine has stopped (${message}): reload the page.`));
    waiting.clear();
  });
  const ask = (method) => (...values) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, [resolve, reject]);
      worker.postMessage({ id: last, method, values });
    });
  return Object.fromEntries(METHODS.map((method) => [method, ask(method)]));
}
