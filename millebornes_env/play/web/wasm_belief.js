// What an agent believes about hidden hands: hands that fit are drawn and weighed by what their holders have played
// (`agents/search/beliefs.py`), from the record of the game, which shows the table's plays (`seen_plays.py`).

const NEXT_ROUND = -1;
const MOST_EVENTS = 512; // in the windows that are looked at; of eight players some 150

/** What one agent believes at one table. */
export class Believing {
  /** @param {Thinker} thinker whose plays others may be like, a network or not.
   * @param {Thinker} other another agent that they may be like. */
  constructor(thinker, other) {
    const { room } = thinker;
    const { kernels, table } = room;
    const { constants, cards } = kernels.data;
    Object.assign(this, { room, thinker, other, constants, kinds: cards.length });
    const [count, seats] = [constants.CANDIDATES, table.players];
    this.drawn = kernels.array("i1", count, seats, cards.length);
    this.hands = kernels.array("i1", count, seats, cards.length);
    const [root, scratch] = [kernels.records("state", 1), kernels.records("state", 1)];
    const row = kernels.array("i1", table.observation_size);
    this.draw = kernels.prepare("draw_deals",
      [thinker.options, table.starts, 0, 0, room.states, room.rules, room.seats, row, root, scratch, this.drawn], [2, 3]);
    this.before = kernels.records("state", 1);
    this.events = kernels.records("state", MOST_EVENTS);
    this.actions = kernels.array("i8", MOST_EVENTS);
    this.write = kernels.prepare("write_events",
      [this.before, room.rules, 0, 0, 0, this.events, this.actions, 0], [2, 3, 4, 7]);
    this.starts = kernels.array("i8", constants.WINDOW, 2);
    this.readings = kernels.array("i8", constants.WINDOW);
    this.trust = kernels.array("f8", constants.KINDS); // nothing is known of the others yet
    this.weights = kernels.array("f8", count);
    this.result = [
      this.weights, kernels.array("f8", constants.KINDS, count), kernels.array("f8", constants.KINDS, count),
      kernels.array("f8", constants.KINDS), kernels.array("i1", count, seats, cards.length),
    ];
    this.weigh = []; // by the number of windows
  }

  /** How probable it is that each other seat holds each card, at least once.
   * @param {{plays: Object[], before: Object[], at: number}} game
   * @param {number} seat who asks itself.
   * @param {number[]} key of the random numbers.
   * @returns {Object[]} {seat, p: a probability for each card}. */
  run(game, seat, key) {
    this.room.seats.view[0] = seat;
    this.draw(...key);
    this.turnHands(seat);
    this.weighing(this.readPlays(game, seat))(...key);
    return this.probabilities(seat);
  }

  /** Hands were drawn by seats from the one that asks; plays are those of the table's seats. */
  turnHands(seat) {
    const { players } = this.room.table;
    const [from, to] = [this.drawn.view, this.hands.view];
    const size = this.kinds;
    for (let deal = 0; deal < from.length; deal += players * size) {
      for (let place = 0; place < players; place++) {
        const start = deal + place * size;
        to.set(from.subarray(start, start + size), deal + ((seat + place) % players) * size);
      }
    }
  }

  /** Write what the others have played since each of the seat's last decisions; how many windows these are. */
  readPlays({ plays, before, at }, seat) {
    const { WINDOW, PASS, CLAIM_COUP_FOURRE } = this.constants;
    const begun = plays.slice(0, at).findLastIndex((play) => play.action === NEXT_ROUND) + 1;
    const own = plays.flatMap((play, place) => (place >= begun && place < at && play.seat === seat ? [place] : []));
    const firsts = (own.length < WINDOW ? [begun, ...own] : own.slice(-WINDOW)).concat(at);
    let end = 0;
    const bounds = firsts.slice(0, -1).map((first, number) => {
      const start = end;
      for (let place = first; place < firsts[number + 1]; place++) {
        if (end + this.constants.EVENTS_OF_A_PLAY > MOST_EVENTS) break;
        const answer = plays.slice(place + 1, at).find((play) => play.action !== PASS);
        this.before.bytes.set(before[place].bytes);
        end = this.write(seat, plays[place].action, answer?.action === CLAIM_COUP_FOURRE ? 1 : 0, end);
      }
      return [start, end];
    });
    bounds.reverse().forEach((pair, number) => pair.forEach((place, side) => (this.starts.view[2 * number + side] = BigInt(place))));
    this.readings.view.fill(1n);
    return bounds.length;
  }

  weighing(windows) {
    const { room, thinker, other } = this;
    const firstOf = (array, ...shape) => Object.assign(Object.create(Object.getPrototypeOf(array)), array, {
      shape, size: shape.reduce((product, length) => product * length, 1),
    });
    this.weigh[windows] ??= room.kernels.prepare("weigh_deals", [
      thinker.address, thinker.options, thinker.network ? 1 : 0, other.address, other.options, room.rules,
      [this.events, this.actions, firstOf(this.starts, windows, 2), firstOf(this.readings, windows)],
      this.hands, this.trust, 0, 0, this.result,
    ], [9, 10]);
    return this.weigh[windows];
  }

  probabilities(seat) {
    const { players } = this.room.table;
    const [hands, weights] = [this.hands.view, this.weights.view];
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    const others = Array.from({ length: players }, (_, place) => place).filter((place) => place !== seat);
    return others.map((place) => ({
      seat: place,
      p: Array.from({ length: this.kinds }, (_, card) => {
        let held = 0;
        weights.forEach((weight, deal) => (held += hands[(deal * players + place) * this.kinds + card] ? weight : 0));
        return Math.round((10_000 * held) / whole) / 10_000;
      }),
    }));
  }
}
