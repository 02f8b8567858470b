// Positions and records as text, as docs/environment/records.md describes it; the words come from `engine.json`.
//
// Written texts are exactly those of Python's `write_position` and `write_record`. Texts to read may omit what can be
// completed; the rulebook, in the engine, checks that a position can be played.

import { byKey, refused } from "./notation_lines.js";
import { PositionReader } from "./position_reader.js";

const NONE = -1; // no card, no seat, no team

/** The notation of one table, from its cards and rules. */
export class Notation {
  constructor(data, edition, table, kernels) {
    this.data = data;
    this.words = data.notation;
    this.edition = edition;
    this.table = table;
    this.kernels = kernels;
    this.cards = data.cards.map((card) => card.name);
    this.id = Object.fromEntries(data.cards.map((card) => [card.name, card.id]));
    const firsts = (kind) => data.cards.find((card) => card.kind === kind).id;
    this.firstHazard = firsts("hazard");
    this.firstRemedy = firsts("remedy");
    this.firstSafety = firsts("safety");
  }

  rule(name) {
    return this.table.values[this.data.rules.findIndex((rule) => rule.field === name)];
  }

  deck() {
    return this.cards.map((name) => this.rule(`copies_of_${name}`));
  }

  // Writing -----------------------------------------------------------------------------------------------------

  /** The lines of a position, as text. */
  write(state) {
    const lines = this.lines(state);
    return Object.entries(lines)
      .filter(([, words]) => words !== "")
      .map(([name, words]) => `${name}: ${words}\n`)
      .join("");
  }

  lines(state) {
    const { players, teams } = this.table;
    const said = { edition: this.edition.name, table: `${players} players in ${teams} teams` };
    said.key = `${state.get("key", 0)} ${state.get("key", 1)}`;
    said.episode = state.get("episode") ? String(state.get("episode")) : "";
    said.round = String(state.get("round_number") + 1);
    said.dealer = String(state.get("dealer"));
    const scores = state.row("score").slice(0, teams);
    said.scores = scores.some(Boolean) ? scores.join(" ") : "";
    Object.assign(said, this.linesOfDecision(state));
    for (let team = 0; team < teams; team++) Object.assign(said, this.linesOfTeam(state, team));
    for (let seat = 0; seat < players; seat++) said[`hand ${seat}`] = this.counts(state.row("hand", seat));
    said["discard pile"] = this.discardPile(state);
    Object.assign(said, this.linesOfStreams(state));
    const items = this.data.score_lines;
    for (let team = 0; team < teams; team++) {
      const points = state.row("score_sheet", team);
      said[`score sheet ${team}`] = items
        .map((item, number) => (points[number] ? `${item.line} ${points[number]}` : ""))
        .filter(Boolean)
        .join(", ");
    }
    return said;
  }

  linesOfDecision(state) {
    const [seat, phase] = [state.get("seat"), state.get("phase")];
    const over = phase === this.data.phases.length - 1;
    const said = { "to act": over ? `round over, last seat ${seat}` : `seat ${seat}, ${this.data.phases[phase]}` };
    if (state.get("pending_hazard") !== NONE) {
      const hazard = this.cards[state.get("pending_hazard")];
      said.pending = `${hazard} by seat ${state.get("attacker")} against team ${state.get("pending_team")}`;
    }
    if (state.get("extension_team") !== NONE) said.extension = `team ${state.get("extension_team")}`;
    if (state.get("winner") !== NONE) said.winner = `team ${state.get("winner")}`;
    return said;
  }

  linesOfTeam(state, team) {
    const laid = state.row("tableau", team);
    const [top, below, speed] = ["battle", "battle_below", "speed"].map((field) => state.get(field, team));
    let battle = top === NONE ? "" : this.cards[top];
    if (below !== NONE) battle += ` on ${this.cards[below]}`;
    const opening = state.get("opening", team);
    if (opening !== this.usualOpening(laid, top, below)) {
      battle = `${battle || this.words.nothing} (${this.words.openings[opening]})`;
    }
    const claimed = state.row("coup_fourre", team);
    const safeties = this.cards
      .map((name, card) => ({ name, card }))
      .filter(({ card }) => card >= this.firstSafety && laid[card])
      .map(({ name, card }) => name + (claimed[card - this.firstSafety] ? this.words.coup_fourre : ""));
    const covered = laid.map((count, card) => (card >= this.firstHazard && card < this.firstSafety ? count : 0));
    for (const card of [top, below, speed]) if (card !== NONE) covered[card] -= 1;
    return {
      [`battle ${team}`]: battle,
      [`speed ${team}`]: speed === NONE ? "" : this.cards[speed],
      [`distance ${team}`]: this.counts(laid.slice(0, this.firstHazard)),
      [`safeties ${team}`]: safeties.join(" "),
      [`covered ${team}`]: this.counts(covered),
    };
  }

  discardPile(state) {
    const counts = state.row("discard_pile");
    const top = state.get("discard_top");
    if (top === NONE) {
      const words = this.counts(counts);
      return words && `${words} (${this.words.top_unknown})`;
    }
    counts[top] -= 1;
    return `${this.counts(counts)} ${this.cards[top]}`.trimStart();
  }

  linesOfStreams(state) {
    const { players } = this.table;
    const starts = state.row("stream_next").slice(0, players);
    const ends = state.row("stream_end").slice(0, players);
    const usual = this.usualStarts(starts.map((start, seat) => ends[seat] - start));
    const deck = state.row("deck");
    const said = {};
    starts.forEach((start, seat) => {
      const words = this.sequence(deck.slice(start, ends[seat]));
      if (start === usual[seat]) said[`stream ${seat}`] = words;
      else said[`stream ${seat} at ${start}`] = words || this.words.nothing;
    });
    return said;
  }

  several(card, count) {
    if (count === 1) return this.cards[card];
    return card < this.firstHazard ? `${count}x${this.cards[card]}` : `${count}x ${this.cards[card]}`;
  }

  counts(counts) {
    return counts
      .map((count, card) => (count ? this.several(card, count) : ""))
      .filter(Boolean)
      .join(" ");
  }

  sequence(cards) {
    const runs = [];
    for (const card of cards) {
      const last = runs[runs.length - 1];
      if (last && last[0] === card) last[1] += 1;
      else runs.push([card, 1]);
    }
    return runs.map(([card, count]) => this.several(card, count)).join(" ");
  }

  /** Infer from the cards of a battle pile how it began: an index into `words.openings`. */
  usualOpening(laid, top, below) {
    const [byRoll, byHazard, again] = [0, 1, 2];
    const isBattleHazard = (card) => card >= this.firstHazard && card <= this.id.stop;
    let cards = 0;
    for (let card = this.firstHazard; card <= this.id.roll; card++) {
      if (card !== this.id.speed_limit) cards += laid[card];
    }
    if (laid[this.id.roll] || top === NONE) return byRoll;
    if (isBattleHazard(top)) {
      if (cards === 1) return byHazard;
      return below !== NONE && cards <= 3 ? again : byRoll;
    }
    return top >= this.firstRemedy && top <= this.id.spare_tire && cards === 2 ? byHazard : byRoll;
  }

  parts() {
    const size = this.deck().reduce((sum, count) => sum + count, 0);
    const { players } = this.table;
    return Array.from({ length: players }, (_, seat) => [
      Math.floor((seat * size) / players),
      Math.floor(((seat + 1) * size) / players),
    ]);
  }

  usualStarts(lengths) {
    const parts = this.parts();
    if (lengths.every((length, seat) => length <= parts[seat][1] - parts[seat][0])) {
      return parts.map(([, stop], seat) => stop - lengths[seat]);
    }
    return lengths.map((_, seat) => lengths.slice(0, seat).reduce((sum, length) => sum + length, 0));
  }

  // Reading -----------------------------------------------------------------------------------------------------

  /** Write the position that the lines describe into a blank record. */
  read(lines, state) {
    new PositionReader(this, byKey(lines, this.words.lines, this.table)).read(state);
  }

  /** Return the action that a play names, for a seat. */
  readAction(line, words, seat) {
    const actions = this.data.actions[this.table.teams][seat % this.table.teams];
    const asked = words.toLowerCase().split(/\s+/).join(" ").replace(/^play /, "");
    const found = actions.find((one) => one.notation === asked) ?? this._againstTheOther(actions, asked);
    if (!found) {
      throw refused(line, `this is not a play: write a card, 'discard' and a card, 'stop against team 1', claim, pass, extend or finish`);
    }
    return found.action;
  }

  _againstTheOther(actions, asked) {
    if (this.table.teams !== 2) return undefined;
    return actions.find((one) => one.target_team !== null && one.notation.startsWith(`${asked} against`));
  }
}
