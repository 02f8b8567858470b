// The engine in a Web Worker: it answers {id, method, given} with {id, result} or {id, error}, one after the other, so
// that no other game begins while an answer waits for a network.

import { WasmEngine } from "./wasm_engine.js";

const loaded = WasmEngine.load();
let answered = Promise.resolve();

addEventListener("message", ({ data }) => {
  answered = answered.then(() => answer(data));
});

async function answer({ id, method, given }) {
  try {
    const engine = await loaded;
    postMessage({ id, result: await engine[method](...given) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
}
