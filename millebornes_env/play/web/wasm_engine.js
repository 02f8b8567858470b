// The game in the page itself: the rulebook, the agents and search are the compiled kernels of `engine.wasm`.
//
// An engine is an object with asynchronous methods that take and return plain JSON values; `worker_engine.js` has the
// same methods and runs this one in a Web Worker. All rules come from the kernels, which work on
// `game.states`, the record of the current game.

import { labelOf } from "./labels.js";
import { namedLine, number as numberOf, partsOf, refused } from "./notation_lines.js";
import { EngineError, Kernels, fetched } from "./wasm_kernels.js";
import { Sheets } from "./wasm_rules.js";
import { Searching, TableRoom, Thinker, forget, remember, remembered } from "./wasm_table.js";

export { EngineError };

const NONE = -1;
const NEXT_ROUND = -1;
const SEARCH = "+search";
const SECOND = "strategist"; // the judge if there is no champion
const AGENT_KEY = 0x6167_656e; // separates the random numbers of agents from the cards
const WORD = 2 ** 32;
const MOST_ROOMS = 4;

/** The engine in the page. */
export class WasmEngine {
  /**
   * Load the engine.
   * @param {function(string): Promise<Uint8Array>} read - gives the bytes of one of the built files, by its name.
   */
  static async load(read = fetched) {
    return new WasmEngine(await Kernels.load(read), read);
  }

  constructor(kernels, read) {
    this.kernels = kernels;
    this.data = kernels.data;
    this.read = read;
    this.sheets = new Sheets(kernels);
    this.rooms = new Map(); // of the tables that were played last, by what they play
    this.weights = new Map(); // the files of networks
    this.game = null;
  }

  // What there is to play -----------------------------------------------------------------------------------------

  /** Editions with their tables, agents with where they play, and the cards. */
  async catalogue() {
    const { agents, cards, source_digest: version } = this.data;
    const editions = this.data.editions.map(({ name, title, summary, is_mini, tables }) => ({
      name, title, summary, is_mini, tables: tables.map(({ players, teams }) => ({ players, teams })),
    }));
    return { version, editions, agents, cards };
  }

  /** The rules of a table: of each the question, the answer (as words and as a number), that of the sheet, and what it may be. */
  async rules(edition, players, teams) {
    return this.sheets.rules(edition, players, teams);
  }

  _room(edition, players, teams) {
    const { sheet, table } = this.sheets.find(edition, players, teams);
    const key = `${sheet.name} ${table.players} ${table.teams}`;
    const room = this.rooms.get(key) ?? new TableRoom(this.kernels, sheet, table);
    this.rooms.delete(key);
    this.rooms.set(key, room);
    if (this.rooms.size > MOST_ROOMS) this.rooms.delete(this.rooms.keys().next().value);
    return room;
  }

  // Games ---------------------------------------------------------------------------------------------------------

  /** Deal a game; the same seed deals the same cards, here and in Python. */
  async start({ edition, players = 2, teams = null, episode = "round", seed: given = null, overrides = null }) {
    this._checkEpisode(episode);
    const seed = given ?? crypto.getRandomValues(new Uint32Array(1))[0];
    if (!Number.isSafeInteger(seed) || seed < 0) throw new EngineError(`A seed is a whole number, 0 or more; this is ${seed}.`);
    const room = this._room(labelOf(edition, overrides ?? {}), players, teams);
    room.deal(seed);
    this._begun(room, episode, seed);
    return this.position();
  }

  _checkEpisode(episode) {
    const known = this.data.constants.EPISODES;
    if (!known.includes(episode)) throw new EngineError(`There is no episode '${episode}'; it is ${known.join(" or ")}.`);
  }

  _begun(room, episode, seed) {
    for (const thinker of room.thinkers.values()) forget(thinker);
    this.game = { room, episode, seed, plays: [], before: [], at: 0, end: null };
  }

  /**
   * A position or a record in our notation; its plays are carried out, so that `goto` can step through them.
   * @param {string|null} given.episode - null: a match if the text deals a next round.
   * @returns how many positions there are, one more than plays, and the episode.
   */
  async load({ text, episode: given = null }) {
    const words = this.data.notation;
    const [lines, rest] = partsOf(text, words);
    const episode = given ?? (rest.some((line) => this._deals(line)) ? "match" : "round");
    this._checkEpisode(episode);
    const said = Object.fromEntries(lines.map((line) => [line.name, line]));
    const room = this._roomOf(said.edition, said.table);
    const kept = this.game ? [this.game.room, this.game.room.bytes()] : null;
    try {
      room.states.bytes.fill(0);
      room.notation.read(lines, room.state);
      const problem = room.problem();
      if (problem) throw new EngineError(`The lines of this position are inconsistent: ${problem}.`);
      room.look();
      const old = this.game;
      this._begun(room, episode, 0);
      try {
        rest.forEach((line) => this._replay(line));
      } catch (error) {
        this.game = old;
        throw error;
      }
    } catch (error) {
      if (kept) kept[0].load(kept[1]); // the game that was played goes on
      throw error;
    }
    const positions = this.game.plays.length + 1;
    await this.goto(0);
    return { positions, episode };
  }

  /** Return true if a line of a record deals the next round. */
  _deals({ said }) {
    return said.toLowerCase().split(/\s+/).join(" ").replace(/:$/, "") === this.data.notation.next_round;
  }

  _roomOf(edition, table) {
    const found = table ? table.words.toLowerCase().match(/^([0-9]{1,4}) players?(?: in ([0-9]{1,4}) teams?)?$/) : ["", 2];
    if (!found) throw refused(table, "a table reads '4 players in 2 teams'");
    const name = edition ? edition.words : "parker";
    return this._room(name, Number(found[1]), found[2] === undefined ? null : Number(found[2]));
  }

  _replay(line) {
    const { room } = this.game;
    const words = this.data.notation;
    const said = line.said.toLowerCase().split(/\s+/).join(" ");
    if (said.startsWith(`${words.result}:`)) return this._checkResult(line);
    if (this._deals(line)) {
      if (room.state.get("phase") !== this.data.phases.length - 1) throw refused(line, "the round is not over");
      return this._apply(NEXT_ROUND, (why) => refused(line, why));
    }
    const play = namedLine(line);
    if (play.name !== "seat" || play.place === null) throw refused(line, `a play reads 'seat 0: 25', or '${words.next_round}'`);
    const seat = numberOf(line, String(play.place), "the seat", 0, room.table.players - 1);
    if (seat !== room.state.get("seat")) throw refused(line, `seat ${room.state.get("seat")} is to act`);
    return this._apply(room.notation.readAction(line, play.words, seat), (why) => refused(line, why));
  }

  _checkResult(line) {
    const { room } = this.game;
    const found = room.state.row("score").slice(0, room.table.teams).join(" ");
    const said = line.said.slice(line.said.indexOf(":") + 1).replaceAll(",", " ").trim().split(/\s+/).join(" ");
    if (said !== found) throw refused(line, `the plays of the record lead to ${found}`);
  }

  /** Go to a position of the game: 0 is the start. */
  async goto(place) {
    const game = this._playing();
    const last = game.plays.length;
    if (!Number.isInteger(place) || place < 0 || place > last) {
      throw new EngineError(`There is no position ${place}: the game has 0 to ${last}.`);
    }
    if (game.at === last) game.end = this._snapshot();
    game.at = place;
    this._restore(place === last ? game.end : game.before[place]);
    return this.position();
  }

  /** Play a legal action of the seat to act; NEXT_ROUND (-1) deals the next round of a match. */
  async play(action) {
    this._playing();
    this._apply(action, (why) => new EngineError(`This cannot be played now: ${why}.`));
    return this.position();
  }

  _apply(action, errorOf) {
    const { game } = this;
    const { room } = game;
    const seat = room.state.get("seat");
    const snapshot = this._snapshot();
    if (action === NEXT_ROUND && game.episode === this.data.constants.EPISODES[0]) throw errorOf("the round is over");
    if (!Number.isInteger(action) || action < NEXT_ROUND || action >= room.table.num_actions) {
      throw errorOf(`there is no action ${action}`);
    }
    room.actions.view[0] = BigInt(action);
    if (room.playUntilRefused() === 0) throw errorOf(this._reason(action));
    room.look();
    game.plays.length = game.before.length = game.at; // after `goto`, later plays are removed
    game.before.push(snapshot);
    game.plays.push({ seat: action === NEXT_ROUND ? null : seat, action });
    game.at += 1;
    game.end = null;
  }

  _snapshot() {
    const { room } = this.game;
    const memories = [...room.thinkers.values()].map((thinker) => [thinker, remembered(thinker)]);
    return { bytes: room.bytes(), memories };
  }

  _restore({ bytes, memories }) {
    const { room } = this.game;
    room.load(bytes);
    for (const thinker of room.thinkers.values()) forget(thinker);
    for (const [thinker, memory] of memories) remember(thinker, memory);
  }

  /** Take back the last play. */
  async undo() {
    const game = this._playing();
    if (game.at === 0) throw new EngineError("There is no play to take back.");
    game.at -= 1;
    this._restore(game.before[game.at]);
    game.plays.length = game.before.length = game.at;
    game.end = null;
    return this.position();
  }

  _playing() {
    if (!this.game) throw new EngineError("No game has been started.");
    return this.game;
  }

  // Views ---------------------------------------------------------------------------------------------------------

  /** The position as a seat sees it, as Python's `CardTable.position` describes it; "all": with all hands, null: none. */
  async position(viewer = null) {
    const { room, episode, plays, at } = this._playing();
    const { state, table } = room;
    const { data } = this;
    const phase = data.phases[state.get("phase")];
    const over = state.get("phase") === data.phases.length - 1;
    const decidesMatch = room.teamFacts() === 1;
    const facts = Array.from({ length: table.teams }, (_, team) => room.factsOf(team));
    const isMatch = episode !== data.constants.EPISODES[0];
    const matchOver = over && (!isMatch || decidesMatch);
    const won = isMatch && matchOver ? "won_match" : "won_round";
    const seat = state.get("seat");
    const countsPoints = room.notation.rule("count_points") === 1;
    const top = state.get("discard_top");
    const pending = phase === "claim"
      ? { card: state.get("pending_hazard"), team: state.get("pending_team"), by: state.get("attacker") } : null;
    return {
      edition: room.edition.name,
      players: table.players,
      teams: table.teams,
      episode,
      at,
      plays: plays.length,
      round_number: state.get("round_number"),
      target: state.get("target"),
      extended: state.get("extension_team") !== NONE,
      draw_pile: state.get("draw_pile"),
      discard_top: top === NONE ? null : top,
      to_act: over ? null : seat,
      asks: over ? null : { play: "play", claim: "coup_fourre", extension: "extension" }[phase],
      pending,
      over,
      match_over: matchOver,
      winners: over ? facts.flatMap((fact, team) => (fact[won] ? [team] : [])) : [],
      seats: Array.from({ length: table.players }, (_, place) => room.seatOf(place, viewer)),
      sides: facts.map((fact, team) => room.sideOf(team, fact, pending)),
      legal: over ? (matchOver ? [] : [this._nextRound()]) : this._legal().map((one) => ({ ...one, notation: `seat ${seat}: ${one.notation}` })),
      counts_points: countsPoints,
      sheet: over && countsPoints ? room.sheet() : null,
      last: at ? this._told(plays[at - 1]) : null,
    };
  }

  _legal() {
    const { room } = this.game;
    return this._actions(room, room.state.get("seat")).filter((one) => room.mask.view[one.action] === 1);
  }

  _actions(room, seat) {
    return this.data.actions[room.table.teams][seat % room.table.teams];
  }

  _nextRound() {
    const notation = this.data.notation.next_round;
    return { action: NEXT_ROUND, kind: "next_round", card: null, target_team: null, notation, words: "deal the next round" };
  }

  /** Describe a play for the log. */
  _told({ seat, action }) {
    const { notation, words } = action === NEXT_ROUND ? this._nextRound() : this._actions(this.game.room, seat)[action];
    return { seat, action, notation: seat === null ? notation : `seat ${seat}: ${notation}`, words };
  }

  /** Return all plays. */
  async log() {
    return this._playing().plays.map((play) => this._told(play));
  }

  /** Return why a card cannot be played against a team (null: any), or discarded ("discard"). */
  async why_not({ card, target_team: target = null }) {
    const { room } = this._playing();
    const about = this.data.cards[card];
    const fits = (one) => (target === "discard" ? one.kind === "discard" : one.kind === "play" && (target === null || one.target_team === target));
    const found = this._actions(room, room.state.get("seat")).find((one) => one.card === card && fits(one));
    if (!found) return { reason: `${about.title} is played on ${about.kind === "hazard" ? "another team's" : "the own"} side of the table` };
    return { reason: room.mask.view[found.action] === 1 ? null : this._reason(found.action) };
  }

  _reason(action) {
    const { room } = this.game;
    const { state, table } = room;
    const isOver = state.get("phase") === this.data.phases.length - 1;
    if (isOver) return action === NEXT_ROUND ? "the match is over" : "the round is over";
    if (action === NEXT_ROUND) return "the round is not over";
    const { cards, phases, reasons } = this.data;
    const seat = state.get("seat");
    const { card, target_team: target } = this._actions(room, seat)[action];
    const team = seat % table.teams;
    const about = card === null ? {} : cards[card];
    const said = {
      phase: phases[state.get("phase")],
      card: about.title,
      team,
      target,
      km: state.get("km", team),
      trip: state.get("target"),
      max_200: room.notation.rule("max_200"),
      safety: cards[about.safety]?.title,
      hazard: cards[about.hazard]?.title,
      roll_goes: table.roll_goes,
    };
    return reasons[room.whyNot(action)].replace(/\{(\w+)\}/g, (_, name) => said[name]);
  }

  // As text -------------------------------------------------------------------------------------------------------

  /** Return the position as text. */
  async save() {
    const { room } = this._playing();
    return { text: room.notation.write(room.state) };
  }

  /** Return the game as text: the first position and every play. */
  async record() {
    const { room, plays, before, at, end } = this._playing();
    const { states, state, table } = room;
    const words = this.data.notation;
    const now = room.bytes();
    try {
      if (at) states.bytes.set(before[0].bytes);
      const lines = [`${room.notation.write(state)}${words.plays}:`, ...plays.map((play) => this._told(play).notation)];
      states.bytes.set(at === plays.length ? now : end.bytes);
      if (state.get("phase") === this.data.phases.length - 1) {
        lines.push(`${words.result}: ${state.row("score").slice(0, table.teams).join(" ")}`);
      }
      return { text: lines.map((line) => `${line}\n`).join("") };
    } finally {
      states.bytes.set(now);
    }
  }

  // Agents --------------------------------------------------------------------------------------------------------

  /** Return the action of an agent ("greedy", "champion", "champion+search" ...) for the seat to act. */
  async choose({ agent, seat = null, ms = 0 }) {
    const { room, seed, at } = this._toAct(seat);
    const begun = performance.now();
    const isSearch = agent.endsWith(SEARCH);
    const thinker = await this._thinker(room, isSearch ? agent.slice(0, -SEARCH.length) : agent);
    const own = room.state.get("seat");
    const key = this._key(room, seed, own);
    const action = isSearch ? this._searching(thinker).run(own, key, ms).action : thinker.choose(own, room.random(...key, at));
    return { action, ms: performance.now() - begun };
  }

  /**
   * Return an agent's opinion: the value of the position (in points, or the chance to `win` without points) and the
   * probability of each play, if it has a network; on request, the result of search over it, and the probabilities of
   * cards in the hidden hands.
   */
  async think({ agent = "champion", search = false, belief = false, ms = 0 } = {}) {
    const { room, seed } = this._toAct(null);
    const thinker = await this._thinker(room, agent);
    if (!thinker.network && agent !== SECOND) {
      throw new EngineError(`The agent '${agent}' cannot judge plays; the champion can, or '${SECOND}' at tables without a champion.`);
    }
    const seat = room.state.get("seat");
    const key = this._key(room, seed, seat);
    const memory = remembered(thinker);
    const thought = thinker.opinion(seat, this._legal().map((one) => one.action));
    if (belief) thought.belief = room.beliefs(seat);
    if (search) {
      const found = this._comparing(thinker).run(seat, key, ms);
      thought.search = [{ action: found.base, mean: 0, error: 0 }, ...found.tried];
      thought.redeals = found.redeals;
    }
    remember(thinker, memory);
    return { agent, ...thought };
  }

  _toAct(seat) {
    const game = this._playing();
    const own = game.room.state.get("seat");
    if (game.room.state.get("phase") === this.data.phases.length - 1) throw new EngineError("The round is over: no seat is to act.");
    if (seat !== null && seat !== own) throw new EngineError(`It is the turn of seat ${own}, not of seat ${seat}.`);
    return game;
  }

  /** The key of an agent's random numbers, which are independent of the cards. */
  _key(room, seed, seat) {
    return [room.random(seed % WORD, AGENT_KEY, seat), AGENT_KEY];
  }

  async _thinker(room, name) {
    if (!room.thinkers.has(name)) room.thinkers.set(name, await this._made(room, name));
    return room.thinkers.get(name);
  }

  async _made(room, name) {
    const { kernels } = room;
    if (name !== "champion") {
      const options = room.table.agents[name];
      if (!options) {
        const known = this.data.agents.map((agent) => agent.name).filter((one) => !one.endsWith(SEARCH)).join(", ");
        throw new EngineError(`There is no agent '${name}'; the agents are ${known}, each with ${SEARCH} behind it or without.`);
      }
      return new Thinker(room, name, kernels.functionAddress(name), options);
    }
    const which = room.table.champion;
    if (!which) throw new EngineError(`There is no champion for ${room.table.players} players in ${room.table.teams} teams.`);
    const { file, layers, options, value } = this.data.champions[which];
    const placed = [...options];
    placed[this.data.constants.ADDRESS] = kernels.weights(await this._file(file), layers).address;
    const thinker = new Thinker(room, name, kernels.functionAddress("network"), placed);
    const out = kernels.array("f4", this.data.sizes.most_outputs);
    const outputs = kernels.prepare("network_outputs", [room.states, room.rules, room.seats, thinker.options, out]);
    thinker.network = { out, outputs, value };
    return thinker;
  }

  /** Load a file once; after a failure, the next call tries again. */
  async _file(name) {
    if (!this.weights.has(name)) this.weights.set(name, await this.read(name));
    return this.weights.get(name);
  }

  _searching(thinker) {
    const { usual, over_a_judge: overAJudge, judges } = this.data.search;
    const { table, notation } = thinker.room;
    const isCounted = table.teams === 2 || notation.rule("count_points") === 1; // as search counts
    const canJudge = thinker.network?.value === judges && isCounted;
    thinker.search ??= new Searching(thinker, canJudge ? overAJudge : usual);
    return thinker.search;
  }

  /** Search that keeps all actions, so that they can be compared. */
  _comparing(thinker) {
    const how = { ...this._searching(thinker).how, z: 1, rollouts: this.data.constants.FEWEST_REDEALS - 1 };
    thinker.comparing ??= new Searching(thinker, how);
    thinker.comparing.memories.bytes.fill(0);
    return thinker.comparing;
  }
}
