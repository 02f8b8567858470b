// What is measured of the page's engine, in Node and in a browser; `now` tells milliseconds.

/** Decisions of random play a second, many games at once as kernels play them. */
export async function speed(engine, { games, steps }, now) {
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
  const gameRules = [rules, rules, kernels.array("i4", games), kernels.array("i4", games)];
  const given = [states, gameRules, [0, 0, SAME_STEP, OBSERVATION_SPEC, 0], actions, buffers, 0, games];
  actions.view.fill(1n);
  kernels.prepare("millebornes_step_range", [...given, BEGIN])();
  const sample = kernels.prepare("sample_range", [mask, actions, scratch, 0, games, 0, 5, 0], [7]);
  const step = kernels.prepare("millebornes_step_range", [...given, CHECK_AND_STEP]);
  const begun = now();
  for (let turn = 0; turn < steps; turn++) {
    sample(turn);
    step();
  }
  return { decisions_a_second: (1000 * games * steps) / (now() - begun) };
}

/** Milliseconds of an agent's decision: the mean over a few games. */
export async function thinking(engine, { agent, games }, now) {
  let [ms, count] = [0, 0];
  for (let seed = 0; seed < games; seed++) {
    let position = await engine.start({ edition: "parker", seed });
    while (!position.over) {
      const begun = now();
      const chosen = await engine.choose({ agent });
      [ms, count] = [ms + now() - begun, count + 1];
      position = await engine.play(chosen.action);
    }
  }
  return { ms: ms / count, decisions: count };
}

/** All that is asked for: `random`, and a list of `agents`. */
export async function measured(engine, { random, agents }, now) {
  const found = { random: await speed(engine, random, now), agents: {} };
  for (const one of agents) found.agents[one.agent] = await thinking(engine, one, now);
  return found;
}
