// The engine in a Web Worker: it answers {id, method, values} with {id, result} or {id, error}, one after the other, so
// that no other game starts while an answer waits for a network.

import { WasmEngine } from "./wasm_engine.js";

const loaded = WasmEngine.load();
let previous = Promise.resolve();

addEventListener("message", ({ data }) => {
  previous = previous.then(() => answer(data));
});

async function answer({ id, method, values }) {
  try {
    const engine = await loaded;
    postMessage({ id, result: await engine[method](...values) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
}
