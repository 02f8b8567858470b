// The engine in this browser (WebAssembly, in a worker), with the interface that the page expects.

import { capital } from "./elements.js";

const MOST_SEED = 2 ** 32;
const STRONGEST = ["champion", "champion+search", "strategist"];

/** The engine, an object with an async method for each message, like that of server_engine.js. */
export async function createEngine() {
  const { workerEngine } = await import("../worker_engine.js");
  const engine = workerEngine();
  const position = async (seat = null) => shown(await engine.position(seat));
  const whole = (ask) => atTheEnd(engine, ask);
  return {
    ...engine,
    kind: "wasm",
    catalogue: async () => withTitles(await engine.catalogue()),
    start: async (game) => shown(await engine.start({ ...game, seed: game.seed ?? randomSeed() })),
    load: async ({ text, episode }) => {
      const played = episode ?? (/^next round/m.test(text) ? "match" : "round");
      return { ...(await engine.load({ text, episode: played })), episode: played };
    },
    goto: async (k) => shown(await engine.goto(k)),
    play: async (action) => shown(await engine.play(action)),
    undo: async () => shown(await engine.undo()),
    position,
    log: () => whole(async () => (await engine.log()).map(withSeat)),
    record: () => whole(() => engine.record()),
  };
}

/** The catalogue with titles of agents, the strongest agents first. */
function withTitles(catalogue) {
  const named = catalogue.agents.map((agent) => ({ ...agent, title: capital(agent.name), summary: agent.title }));
  const champion = named.find((agent) => agent.name === "champion");
  const searching = champion ? [{ ...champion, name: "champion+search", title: "Champion with search" }] : [];
  const rank = ({ name }) => (STRONGEST.includes(name) ? STRONGEST.indexOf(name) : STRONGEST.length);
  return { ...catalogue, agents: [...named, ...searching].sort((one, other) => rank(one) - rank(other)) };
}

const randomSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % MOST_SEED;

/** Call a function at the end of the game, then return to the current position. */
async function atTheEnd(engine, ask) {
  const { place, positions } = await engine.position(null);
  if (place === positions - 1) return ask();
  await engine.goto(positions - 1);
  try {
    return await ask();
  } finally {
    await engine.goto(place);
  }
}

const withSeat = (entry) => ({ ...entry, notation: entry.seat === null ? entry.notation : `seat ${entry.seat}: ${entry.notation}` });

/** Convert a position to the names that the page reads. */
function shown(position) {
  const { pending, sides, sheet } = position;
  return {
    ...position,
    at: position.place,
    plays: position.positions - 1,
    round_number: position.round_number - 1,
    over: position.round_over,
    match_over: position.over,
    pending: pending && { ...pending, by: pending.seat },
    sides: sides.map((side) => ({ ...side, pending: pending?.team === side.team ? pending.card : null })),
    sheet: sheet && linesOf(sheet),
    last: position.last && withSeat(position.last),
  };
}

/** Transpose the score sheet from teams to lines, and add the total. */
function linesOf(teams) {
  const lines = teams[0].map(({ line, title }, index) => ({ line, title, points: teams.map((team) => team[index].points) }));
  const total = teams.map((team) => team.reduce((sum, one) => sum + one.points, 0));
  return [...lines, { line: "round", title: "round", points: total }];
}
