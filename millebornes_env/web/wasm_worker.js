// The engine in a Web Worker: it answers {id, method, given} with {id, result} or {id, error}.

import { WasmEngine } from "./wasm_engine.js";

const loaded = WasmEngine.load();

addEventListener("message", async ({ data: { id, method, given } }) => {
  try {
    const engine = await loaded;
    postMessage({ id, result: await engine[method](...given) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
});
