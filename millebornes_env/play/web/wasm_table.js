// A table in the module's memory: its rules and one game of it, the agents that play there, and search.

import { Notation } from "./notation.js";
import { KernelRecord } from "./wasm_kernels.js";
import { recordOfRules } from "./wasm_rules.js";

const NONE = -1; // no card
const ALL_REDEALS = 2 ** 40;
const WORD = 2 ** 32;

/** The memory of a table, an instance of the module: its rules, one game and its agents. */
export class TableRoom {
  constructor(engine, edition, table) {
    const kernels = engine.apart();
    const { data } = kernels;
    const { constants, sizes } = data;
    Object.assign(this, { kernels, edition, table });
    this.notation = new Notation(data, edition, table, kernels);
    this.states = kernels.records("state", 1);
    this.state = new KernelRecord(this.states, data.records.state);
    this.rules = kernels.records("rules", 1);
    this.rules.bytes.set(recordOfRules(data, table.values));
    const shapes = {
      observation: [1, table.observation_size],
      action_mask: [1, table.num_actions],
      rewards: [1, table.players],
      final_observation: [1, table.players, table.observation_size],
      final_score: [1, table.teams],
    };
    this.buffers = Object.entries(sizes.buffers).map(([name, [type]]) => kernels.array(type, ...(shapes[name] ?? [1])));
    this.mask = this.buffers[Object.keys(sizes.buffers).indexOf("action_mask")];
    const settings = [0, 0, constants.DISABLED, constants.OBSERVATION_SPEC, 0];
    this.actions = kernels.array("i8", 1);
    this.seats = kernels.array("i4", 1);
    this.facts = kernels.array("i8", sizes.max_teams, sizes.facts.length);
    const game = [this.states, this.rules];
    this.seed = kernels.prepare("millebornes_seed_games", [this.states, 0, 0, 0], [2, 3]);
    const gameRules = [this.rules, this.rules, kernels.array("i4", 1), kernels.array("i4", 1)];
    const legal = kernels.array("i8", 1, Math.ceil(table.num_actions / constants.SET_SIZE));
    const step = [this.states, gameRules, settings, this.actions, this.buffers, legal, 0, 1, constants.BEGIN];
    this.begin = kernels.prepare("millebornes_step_range", step);
    this.playUntilRefused = kernels.prepare("play_until_refused", [...game, this.actions, this.seats]);
    this.teamFacts = kernels.prepare("team_facts", [...game, this.facts]);
    this.whyNot = kernels.prepare("why_not", [...game, 0], [2]);
    this.firstUnsound = kernels.prepare("_first_unsound", [...game, kernels.array("i8", sizes.audit_scratch)]);
    this.random = kernels.prepare("random_number", [0, 0, 0], [0, 1, 2]);
    this.thinkers = new Map(); // by the names of agents
  }

  /** Write the observation and the mask of the state into the buffers. */
  look() {
    this.actions.view[0] = 0n;
    this.begin();
  }

  /** Deal the first round of an episode by a seed. */
  deal(seed) {
    this.states.bytes.fill(0);
    this.seed(seed % WORD, Math.floor(seed / WORD));
    this.actions.view[0] = 1n;
    this.begin();
  }

  bytes() {
    return this.states.bytes.slice();
  }

  load(bytes) {
    this.states.bytes.set(bytes);
    this.look();
  }

  /** Return why the record is not a valid game of this table, or "". */
  problem() {
    const [, violation] = this.firstUnsound();
    if (violation === 0) return "";
    const deck = this.notation.deck().reduce((sum, count) => sum + count, 0);
    const message = this.kernels.data.violations[violation] ?? "it cannot be played on";
    return message.replace("{last_seat}", this.table.players - 1).replace("{size}", deck);
  }

  /** Return the results of `team_facts` for a team, by name. */
  factsOf(team) {
    const names = this.kernels.data.sizes.facts;
    const view = this.facts.view;
    return Object.fromEntries(names.map((name, place) => [name, view[team * names.length + place] === 1n]));
  }

  /** A seat as the viewer sees it. */
  seatOf(seat, viewer) {
    const isSeen = viewer === "all" || viewer === seat;
    const hand = isSeen ? this.state.row("hand", seat).flatMap((count, card) => Array(count).fill(card)) : null;
    return { seat, team: seat % this.table.teams, hand, hand_size: this.state.get("hand_count", seat) };
  }

  /** The probability that each other seat holds each card at least once, as far as a seat sees the cards.
   * @returns {Object[]} {seat, p: a probability for each card}. */
  beliefs(viewer) {
    const own = this.state.row("hand", viewer);
    const unseen = this.state.row("hidden").map((count, card) => count - own[card]);
    const all = unseen.reduce((sum, count) => sum + count, 0);
    const chance = (count, size) => {
      let without = 1;
      for (let drawn = 0; drawn < size; drawn++) without *= Math.max(all - count - drawn, 0) / (all - drawn);
      return Math.round(10_000 * (1 - without)) / 10_000;
    };
    const others = Array.from({ length: this.table.players }, (_, seat) => seat).filter((seat) => seat !== viewer);
    return others.map((seat) => ({ seat, p: unseen.map((count) => chance(count, this.state.get("hand_count", seat))) }));
  }

  /** Return the side of a team: its piles and score.
   * @param {Object} fact - of `factsOf`.
   * @param {Object|null} pending - the hazard that a team may answer. */
  sideOf(team, fact, pending) {
    const { state, table } = this;
    const laid = state.row("tableau", team);
    const pile = (...fields) => fields.map((field) => state.get(field, team)).filter((card) => card !== NONE);
    const ofKind = (kind) => this.kernels.data.cards.filter((card) => card.kind === kind && laid[card.id]);
    const claimed = state.row("coup_fourre", team);
    const first = this.kernels.data.cards.find((card) => card.kind === "safety").id;
    return {
      team,
      seats: Array.from({ length: table.players / table.teams }, (_, place) => team + place * table.teams),
      km: state.get("km", team),
      battle: pile("battle_below", "battle"),
      speed: pile("speed"),
      distances: Object.fromEntries(ofKind("distance").map((card) => [card.id, laid[card.id]])),
      safeties: ofKind("safety").map((card) => ({ card: card.id, coup_fourre: claimed[card.id - first] === 1 })),
      score: state.get("score", team),
      can_drive: fact.can_drive,
      limited: fact.limited,
      pending: pending?.team === team ? pending.card : null,
      cured: fact.cured,
    };
  }

  /** The score sheet of the last finished round: lines with each team's points, and the sum. */
  sheet() {
    const teams = Array.from({ length: this.table.teams }, (_, team) => this.state.row("score_sheet", team));
    const lines = this.kernels.data.score_lines.map((one, place) => ({ ...one, points: teams.map((points) => points[place]) }));
    const total = teams.map((points) => points.reduce((sum, one) => sum + one, 0));
    return [...lines, { line: "round", title: "round", points: total }];
  }
}

/** An agent at a table: its function, its options, and a memory for each seat. */
export class Thinker {
  constructor(room, name, address, options) {
    const { kernels } = room;
    const { sizes } = kernels.data;
    this.room = room;
    this.name = name;
    this.address = address;
    this.options = kernels.array("i8", sizes.max_options);
    this.options.view.set(options.map(BigInt));
    this.memories = kernels.array("i2", room.table.players, sizes.memory);
    this.memory = kernels.array("i2", 1, sizes.memory);
    this.draws = kernels.array("i8", 1);
    this.actions = kernels.array("i8", 1);
    const given = [address, room.states, room.rules, room.seats, this.memory, this.options, this.draws, this.actions];
    this.chooseEach = kernels.prepare("choose_each", given);
    this.search = this.comparing = null;
  }

  choose(seat, draw) {
    const size = this.memory.size;
    this.memory.view.set(this.memories.view.subarray(seat * size, (seat + 1) * size));
    this.room.seats.view[0] = seat;
    this.draws.view[0] = BigInt(draw);
    this.chooseEach();
    this.memories.view.set(this.memory.view, seat * size);
    return Number(this.actions.view[0]);
  }

  /** Return the opinion of a seat's position: its value and the probability of each legal play, the likeliest first. */
  opinion(seat, legal) {
    if (!this.network) return { value: null, win: null, probabilities: [{ action: this.choose(seat, 0), p: 1 }] };
    const { room, network } = this;
    room.seats.view[0] = seat;
    const count = network.outputs();
    const out = network.out.view;
    const most = Math.max(...legal.map((action) => out[action]));
    const weights = legal.map((action) => Math.exp(out[action] - most));
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    const probabilities = legal.map((action, place) => ({ action, p: weights[place] / whole }));
    probabilities.sort((one, other) => other.p - one.p);
    return { ...this.worth(network.value === null ? null : out[count - 1]), probabilities };
  }

  /** Convert the network's value to points or, without points, to the chance to win. */
  worth(value) {
    const { notation, table, kernels } = this.room;
    if (value === null) return { value: null, win: null };
    if (notation.rule("count_points") === 1) return { value: kernels.data.constants.POINTS_PER_REWARD * value, win: null };
    return { value: null, win: Math.min(1, Math.max(0, (value * (table.teams - 1) + 1) / table.teams)) };
  }
}

/** Search over an agent: redeals the hidden cards, and plays on after each action (`agents.search`). */
export class Searching {
  constructor(thinker, how) {
    const { room } = thinker;
    const { kernels, table } = room;
    const { sizes, constants } = kernels.data;
    Object.assign(this, { room, how, chunk: constants.CHUNK });
    const searcher = [thinker.address, thinker.options, table.starts, 0, how.rollouts, how.depth, 0, 0];
    const layout = room.kernels.data.records.state;
    const states = kernels.records("state", 3);
    const one = (place) => Object.assign(Object.create(Object.getPrototypeOf(states)), states, {
      address: states.address + place * layout.size, shape: [1], size: 1,
    });
    this.decisions = {};
    const shapes = {
      memories: [1, table.players, sizes.memory],
      own: [1, sizes.memory],
      hidden: [1, sizes.deck],
      keys: [1, 2],
    };
    for (const name of ["masks", "tried", "gains", "squares"]) shapes[name] = [1, table.num_actions];
    for (const [name, type] of Object.entries(sizes.decisions)) {
      const place = ["roots", "dealt", "games"].indexOf(name);
      this.decisions[name] = place >= 0 ? one(place) : kernels.array(type, ...(shapes[name] ?? [1]));
    }
    const decisions = Object.values(this.decisions);
    this.row = kernels.array("i1", table.observation_size);
    this.slots = kernels.array("i8", 1);
    this.memories = kernels.array("i2", table.players, sizes.memory);
    this.taken = kernels.array("i8", table.players);
    this.actions = kernels.array("i8", 1);
    this.means = kernels.array("f8", table.num_actions);
    this.errors = kernels.array("f8", table.num_actions);
    const begin = [...searcher, room.states, room.rules, room.seats, this.row, this.slots, this.memories, this.taken, decisions];
    this.begin = kernels.prepare("begin_search", begin, [6, 7]);
    const hands = kernels.array("i1", 0, 1, kernels.data.cards.length); // none: redeals are uniform
    this.goOn = kernels.prepare("go_on_searching", [...searcher, room.rules, decisions, 0, 0, hands], [6, 7, 11]);
    const z = Math.round(1000 * how.z);
    this.conclude = kernels.prepare("conclude_search", [thinker.options, table.starts, z, decisions, this.actions]);
    this.findings = kernels.prepare("search_findings", [decisions, 0, this.means, this.errors]);
  }

  /** Search for a seat, for at most `ms` milliseconds (0: no limit). */
  run(seat, key, ms = 0) {
    const end = ms > 0 ? performance.now() + ms : Infinity;
    this.room.seats.view[0] = seat;
    this.slots.view[0] = BigInt(seat);
    this.begin(...key);
    while (this.goOn(...key, ms > 0 ? this.chunk : ALL_REDEALS) === 0 && performance.now() < end);
    this.conclude();
    const count = this.findings();
    const tried = Array.from({ length: count }, (_, place) => ({
      action: Number(this.decisions.tried.view[place]),
      mean: this.means.view[place],
      error: this.errors.view[place],
    }));
    const base = Number(this.decisions.base.view[0]);
    return { action: Number(this.actions.view[0]), base, tried, redeals: Number(this.decisions.redeals.view[0]) };
  }
}

/** Copy the memories of an agent for all seats. */
export function remembered({ memories, search }) {
  return [memories, search?.memories, search?.taken].map((array) => array?.bytes.slice());
}

/** Restore the memories of an agent from a copy. */
export function remember({ memories, search }, kept) {
  [memories, search?.memories, search?.taken].forEach((array, place) => {
    if (!array) return;
    if (kept[place]) array.bytes.set(kept[place]);
    else array.bytes.fill(0);
  });
}

/** Clear the memories of an agent. */
export function forget(thinker) {
  remember(thinker, []);
}
