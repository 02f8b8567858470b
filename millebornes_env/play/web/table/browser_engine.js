// The engine in this browser (WebAssembly, in a worker), as the page asks for it.

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
    catalogue: async () => chosenFrom(await engine.catalogue()),
    start: async (game) => shown(await engine.start({ ...game, seed: game.seed ?? randomSeed() })),
    load: async ({ text, episode }) => {
      const played = episode ?? (/^next round/m.test(text) ? "match" : "round");
      return { ...(await engine.load({ text, episode: played })), episode: played };
    },
    goto: async (k) => shown(await engine.goto(k)),
    play: async (action) => shown(await engine.play(action)),
    undo: async () => shown(await engine.undo()),
    position,
    log: () => whole(async () => (await engine.log()).map(told)),
    record: () => whole(() => engine.record()),
  };
}

/** What there is to choose from: the strongest agents first, by their names. */
function chosenFrom(catalogue) {
  const named = catalogue.agents.map((agent) => ({ ...agent, title: capital(agent.name), summary: agent.title }));
  const champion = named.find((agent) => agent.name === "champion");
  const searching = champion ? [{ ...champion, name: "champion+search", title: "Champion with search" }] : [];
  const place = ({ name }) => (STRONGEST.includes(name) ? STRONGEST.indexOf(name) : STRONGEST.length);
  return { ...catalogue, agents: [...named, ...searching].sort((one, other) => place(one) - place(other)) };
}

const randomSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % MOST_SEED;

/** Ask about the whole game, and look again where one looked. */
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

const told = (entry) => ({ ...entry, notation: entry.seat === null ? entry.notation : `seat ${entry.seat}: ${entry.notation}` });

/** A position with the names that the page reads. */
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
    last: position.last && told(position.last),
  };
}

/** The score sheet by lines instead of by teams, with the sum. */
function linesOf(teams) {
  const lines = teams[0].map(({ line, title }, place) => ({ line, title, points: teams.map((team) => team[place].points) }));
  const total = teams.map((team) => team.reduce((sum, one) => sum + one.points, 0));
  return [...lines, { line: "round", title: "round", points: total }];
}
