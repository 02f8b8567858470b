// Read the lines of a position into the record of a game: each kind of line in turn, then the omitted parts.

import { cardsNamed, number, refused, withoutRemark } from "./notation_lines.js";
import { EngineError } from "./wasm_kernels.js";

const NONE = -1; // no card, no seat, no team

/** Reads the lines of one position into a record. */
export class PositionReader {
  constructor(notation, lines) {
    this.notation = notation;
    this.lines = lines;
    this.left = notation.deck();
  }

  read(state) {
    const { players } = this.notation.table;
    this.clear(state);
    this.readChance(state);
    for (let team = 0; team < this.notation.table.teams; team++) this.readTeam(state, team);
    this.readPending(state);
    this.readDiscardPile(state);
    const [hands, openHands] = this.readLists("hand");
    const [streams, openStreams] = this.readLists("stream");
    for (let seat = 0; seat < players; seat++) if (!this.lines[`stream ${seat}`]) openStreams.push(seat);
    this.readToAct(state, hands);
    this.complete(state, hands, openHands, streams, openStreams.sort((a, b) => a - b));
    this.layOut(state, hands, streams);
    this.readEnd(state);
  }

  clear(state) {
    const { players, teams } = this.notation.table;
    state.set("target", 0, this.notation.rule("target"));
    for (const field of ["extension_team", "winner", "pending_team", "pending_hazard", "discard_top", "attacker"]) {
      state.set(field, 0, NONE);
    }
    for (let team = 0; team < teams; team++) {
      for (const field of ["battle", "battle_below", "speed"]) state.set(field, team, NONE);
    }
    state.view("deck", 0, this.notation.data.sizes.deck).fill(NONE);
    state.set("dealer", 0, players - 1);
  }

  readChance(state) {
    const key = this.lines.key;
    if (key) {
      const words = key.words.split(" ");
      if (words.length !== 2) throw refused(key, "a key is two whole numbers, such as '123 456'");
      words.forEach((word, place) => state.set("key", place, number(key, word, "a word of the key", 0, 2 ** 32 - 1)));
    }
    const { episode, round, dealer } = this.lines;
    if (episode) state.set("episode", 0, number(episode, episode.words, "the episode", 0, 1e9));
    if (round) state.set("round_number", 0, number(round, round.words, "the round", 1, 1e9) - 1);
    if (dealer) state.set("dealer", 0, this.seat(dealer, dealer.words.toLowerCase().replace(/^seat /, "")));
  }

  seat(line, word) {
    return number(line, word, "the seat", 0, this.notation.table.players - 1);
  }

  team(line, word) {
    return number(line, word, "the team", 0, this.notation.table.teams - 1);
  }

  /** Return the cards of a list, and remove them from those left. */
  cards(line, words) {
    const found = cardsNamed(line, words, this.notation);
    for (const card of found) {
      this.left[card] -= 1;
      if (this.left[card] < 0) {
        const name = this.notation.cards[card];
        throw refused(line, `too many of a card: the deck of this table has ${this.notation.deck()[card]} ${name}`);
      }
    }
    return found;
  }

  lay(state, line, words, team, allowed, pile) {
    const found = this.cards(line, words);
    for (const card of found) {
      if (!allowed(card)) throw refused(line, `${this.notation.cards[card]} cannot be ${pile}`);
      state.add("tableau", team * this.notation.cards.length + card);
    }
    return found;
  }

  readTeam(state, team) {
    const { firstHazard, firstRemedy, firstSafety, id, data } = this.notation;
    const line = (name) => this.lines[`${name} ${team}`];
    const covered = (card) => card >= firstHazard && card < firstSafety;
    const atSpeed = (card) => card === id.speed_limit || card === id.end_of_limit;
    const inBattle = (card) => covered(card) && !atSpeed(card);
    if (line("distance")) {
      const laid = this.lay(state, line("distance"), line("distance").words, team, (card) => card < firstHazard, "on a distance pile");
      state.set("km", team, laid.reduce((sum, card) => sum + data.cards[card].km, 0));
    }
    if (line("safeties")) this.readSafeties(state, line("safeties"), team);
    if (line("covered")) this.lay(state, line("covered"), line("covered").words, team, covered, "under another card");
    if (line("speed")) {
      const laid = this.lay(state, line("speed"), line("speed").words, team, atSpeed, "on a speed pile");
      if (laid.length > 1) throw refused(line("speed"), `name the card on top only; those under it belong in 'covered ${team}'`);
      state.set("speed", team, laid.length ? laid[0] : NONE);
    }
    const battle = line("battle");
    if (!battle) return;
    const [words, remark] = withoutRemark(battle);
    const opening = this.notation.words.openings.indexOf(remark);
    if (remark && opening < 0) throw refused(battle, `(${remark}) is not a remark for a battle pile`);
    const [top, under = ""] = ` ${words} `.split(" on ");
    const tops = this.lay(state, battle, top, team, inBattle, "on a battle pile");
    const below = this.lay(state, battle, under, team, inBattle, "on a battle pile");
    if (tops.length > 1 || below.length > 1 || (below.length && !(tops[0] < firstRemedy))) {
      throw refused(battle, `write a battle pile as 'roll' or 'stop on roll', and cards under these in 'covered ${team}'`);
    }
    state.set("battle", team, tops.length ? tops[0] : NONE);
    state.set("battle_below", team, below.length ? below[0] : NONE);
    const laid = state.row("tableau", team);
    const usual = this.notation.usualOpening(laid, state.get("battle", team), state.get("battle_below", team));
    state.set("opening", team, remark ? opening : usual);
  }

  readSafeties(state, line, team) {
    const { firstSafety, words } = this.notation;
    const mark = words.coup_fourre;
    const named = line.words.replaceAll(",", " ").split(" ").filter(Boolean);
    const isSafety = (card) => card >= firstSafety;
    for (const word of named) {
      const claimed = word.endsWith(mark);
      const plain = claimed ? word.slice(0, -mark.length) : word;
      const [card] = this.lay(state, line, plain, team, isSafety, "among the safeties");
      if (claimed) state.set("coup_fourre", team * (this.notation.cards.length - firstSafety) + card - firstSafety, 1);
    }
  }

  readPending(state) {
    const line = this.lines.pending;
    if (!line) return;
    const found = line.words.toLowerCase().match(/^(\S+) by seat (\S+) against team (\S+)$/);
    if (!found) throw refused(line, "write a pending hazard as 'stop by seat 0 against team 1'");
    const [hazard] = this.cards(line, found[1]);
    state.set("pending_hazard", 0, hazard);
    state.set("attacker", 0, this.seat(line, found[2]));
    state.set("pending_team", 0, this.team(line, found[3]));
  }

  readDiscardPile(state) {
    const line = this.lines["discard pile"];
    if (!line) return;
    const [words, remark] = withoutRemark(line);
    const others = this.notation.words.and_others;
    const laid = this.cards(line, words.replaceAll(others, " "));
    for (const card of laid) state.add("discard_pile", card);
    if (laid.length && remark !== this.notation.words.top_unknown) state.set("discard_top", 0, laid[laid.length - 1]);
  }

  readLists(name) {
    const others = this.notation.words.and_others;
    const [lists, open] = [[], []];
    for (let seat = 0; seat < this.notation.table.players; seat++) {
      const line = this.lines[`${name} ${seat}`];
      let words = line ? line.words : "";
      if (words.endsWith(others)) {
        open.push(seat);
        words = words.slice(0, -others.length);
      }
      lists.push(line ? this.cards(line, words) : []);
    }
    return [lists, open];
  }

  readToAct(state, hands) {
    const { players, teams } = this.notation.table;
    const { phases, cards } = this.notation.data;
    const over = phases.length - 1;
    const pending = state.get("pending_hazard");
    let seat = (state.get("dealer") + 1) % players;
    let phase = pending === NONE ? 0 : 1;
    if (pending !== NONE) {
      const members = hands.map((_, one) => one).filter((one) => one % teams === state.get("pending_team"));
      seat = members.find((one) => hands[one].includes(cards[pending].safety)) ?? members[0];
    }
    const line = this.lines["to act"];
    if (line) {
      const words = line.words.toLowerCase();
      const end = words.match(/^round over(?:, *last seat (\S+))?$/);
      const found = words.match(/^seat ([^\s,]+)(?:, *(.+))?$/);
      if (end) [seat, phase] = [this.seat(line, end[1] ?? "0"), over];
      else if (found) {
        seat = this.seat(line, found[1]);
        if (found[2]) phase = phases.indexOf(found[2]);
        if (phase < 0 || phase === over) throw refused(line, "the decision is play, claim or extension");
      } else throw refused(line, "expected 'seat 0, play' (or claim, or extension), or 'round over, last seat 0'");
    }
    state.set("seat", 0, seat);
    state.set("phase", 0, phase);
  }

  /** Deal the cards that no line names, shuffled by the key, to the open hands, streams or discard pile. */
  complete(state, hands, openHands, streams, openStreams) {
    const rest = this.left.flatMap((count, card) => Array(count).fill(card));
    const word = this.notation.kernels.prepare("random_number", [state.get("key", 0), state.get("key", 1), 0], [2]);
    for (let last = rest.length - 1; last > 0; last--) {
      const other = Number((BigInt(word(last)) * BigInt(last + 1)) >> 32n);
      [rest[last], rest[other]] = [rest[other], rest[last]];
    }
    for (const seat of openHands) {
      const drawn = state.get("phase") === 0 && state.get("seat") === seat ? 1 : 0;
      const wanted = this.notation.rule("hand_limit") + drawn;
      while (hands[seat].length < wanted) {
        if (!rest.length) throw refused(this.lines[`hand ${seat}`], `no cards are left to fill it up to ${wanted}`);
        hands[seat].push(rest.pop());
      }
    }
    const others = this.notation.words.and_others;
    const discards = this.lines["discard pile"];
    if (openStreams.length) {
      if (discards && discards.words.includes(others)) {
        throw refused(discards, `the others ('${others}') go to the streams that are left open: write all streams, or no '${others}'`);
      }
      const room = this.notation.parts().map(([start, stop]) => stop - start);
      while (rest.length) {
        let best = openStreams[0];
        for (const seat of openStreams) if (room[seat] - streams[seat].length > room[best] - streams[best].length) best = seat;
        streams[best].push(rest.pop());
      }
    } else if (discards && discards.words.includes(others) && rest.length) {
      for (const card of rest) state.add("discard_pile", card);
      if (state.get("discard_top") === NONE && !discards.words.includes("(")) state.set("discard_top", 0, rest[rest.length - 1]);
      rest.length = 0;
    }
    if (rest.length) {
      throw new EngineError(`${rest.length} cards of the deck lie nowhere: name them in a line, or end a 'stream' with '${others}'.`);
    }
  }

  layOut(state, hands, streams) {
    const kinds = this.notation.cards.length;
    hands.forEach((hand, seat) => {
      for (const card of hand) {
        state.add("hand", seat * kinds + card);
        state.add("hidden", card);
      }
      state.set("hand_count", seat, hand.length);
    });
    const starts = this.notation.usualStarts(streams.map((stream) => stream.length));
    const size = this.notation.data.sizes.deck;
    streams.forEach((stream, seat) => {
      const line = this.lines[`stream ${seat}`];
      const start = line && line.at !== null ? line.at : starts[seat];
      if (start + stream.length > size) throw refused(line, `it ends behind the ${size} places of the deck`);
      stream.forEach((card, place) => {
        if (state.get("deck", start + place) !== NONE) throw refused(line ?? this.lines["stream 0"], "it would lie on another stream");
        state.set("deck", start + place, card);
        state.add("hidden", card);
      });
      state.set("stream_next", seat, start);
      state.set("stream_end", seat, start + stream.length);
    });
    state.set("draw_pile", 0, streams.reduce((sum, stream) => sum + stream.length, 0));
  }

  readEnd(state) {
    const { extension, winner, scores } = this.lines;
    const teamOf = (line) => this.team(line, line.words.toLowerCase().replace(/^team /, ""));
    if (extension) {
      if (!this.notation.rule("extended_target")) throw refused(extension, "there is no extension at this table");
      state.set("extension_team", 0, teamOf(extension));
      state.set("target", 0, this.notation.rule("extended_target"));
    }
    if (winner) state.set("winner", 0, teamOf(winner));
    if (scores) {
      const words = scores.words.replaceAll(",", " ").split(" ").filter(Boolean);
      if (words.length !== this.notation.table.teams) throw refused(scores, `the table has ${this.notation.table.teams} teams`);
      words.forEach((word, team) => state.set("score", team, number(scores, word, "a score", 0, 32767)));
    }
    const items = this.notation.data.score_lines.map((item) => item.line);
    for (let team = 0; team < this.notation.table.teams; team++) {
      const line = this.lines[`score sheet ${team}`];
      if (!line) continue;
      for (const item of line.words.toLowerCase().split(",")) {
        const [name, points, ...more] = item.trim().split(" ");
        const place = items.indexOf(name);
        if (place < 0 || more.length) throw refused(line, `'${item.trim()}' is not an item; expected 'distance 700, safeties 100'`);
        state.set("score_sheet", team * items.length + place, number(line, points ?? "", name, 0, 32767));
      }
    }
  }
}
