// The speed of the page's engine in Node: `node page_engine.mjs WEB BUILT < given.json` prints figures as JSON.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Milliseconds of processor time that this process has used: others on the machine change it little. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Decisions of random play a second, many games at once as kernels play them. */
async function speed(engine, { games, steps }) {
  const { kernels } = engine;
  const { data } = kernels;
  const { BEGIN, CHECK_AND_STEP, SAME_STEP, OBSERVATION_SPEC } = data.constants;
  const table = data.editions.find(({ name }) => name === "parker").tables[0];
  const states = kernels.records("state", games);
  const rules = kernels.records("rules", 1);
  rules.bytes.set(Uint8Array.from(atob(table.record), (letter) => letter.charCodeAt(0)));
  const shapes = {
    observation: [games, table.observation_size], action_mask: [games, table.num_actions], rewards: [games, 2],
    final_observation: [games, 2, table.observation_size], final_score: [games, 2],
  };
  const buffers = Object.entries(data.sizes.buffers).map(([name, [type]]) => kernels.array(type, ...(shapes[name] ?? [games])));
  const [mask, actions, scratch] = [buffers[1], kernels.array("i8", games), kernels.array("i8", table.num_actions + 1)];
  kernels.prepare("millebornes_seed_games", [states, 0, 1, 0])();
  const given = [states, rules, [0, 0, SAME_STEP, OBSERVATION_SPEC, 0], actions, buffers, 0, games];
  actions.view.fill(1n);
  kernels.prepare("millebornes_step_range", [...given, BEGIN])();
  const sample = kernels.prepare("sample_range", [mask, 0, 5, actions, scratch, 0, games], [1]);
  const step = kernels.prepare("millebornes_step_range", [...given, CHECK_AND_STEP]);
  const begun = cpu();
  for (let turn = 0; turn < steps; turn++) {
    sample(turn);
    step();
  }
  return { decisions_a_second: (1000 * games * steps) / (cpu() - begun) };
}

/** Milliseconds of an agent's decision: the mean over a few games. */
async function thinking(engine, { agent, games }) {
  let [ms, count] = [0, 0];
  for (let seed = 0; seed < games; seed++) {
    let position = await engine.start({ edition: "parker", seed });
    while (!position.over) {
      const begun = cpu();
      const chosen = await engine.choose({ agent });
      [ms, count] = [ms + cpu() - begun, count + 1];
      position = await engine.play(chosen.action);
    }
  }
  return { ms: ms / count, decisions: count };
}

const [web, built] = process.argv.slice(2);
const { WasmEngine } = await import(pathToFileURL(join(web, "wasm_engine.js")));
const engine = await WasmEngine.load((name) => readFile(join(built, name)));
const { random, agents } = JSON.parse(readFileSync(0, "utf8"));
const found = { random: await speed(engine, random), agents: {} };
for (const one of agents) found.agents[one.agent] = await thinking(engine, one);
process.stdout.write(JSON.stringify(found));
