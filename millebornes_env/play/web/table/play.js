// The game at the table: whose turn it is, what agents do, what is shown and kept.

import { drawBoard } from "./board.js";
import { close, showSheet } from "./dialogs.js";
import { capital, find, make } from "./elements.js";
import { cardPicture } from "./filling.js";
import { Hand } from "./hand.js";
import { keep, STORE } from "./keeping.js";
import { Names, NOBODY, YOU } from "./names.js";

const PACE = 650; // milliseconds between the plays of agents, so that one can follow

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Play {
  /** @param {Object} engine
   * @param {Object} catalogue what the engine has to choose from.
   * @param {Object} page what else stands there: functions `looked`, `failed`, `again`, `reviewOf`. */
  constructor(engine, catalogue, page) {
    Object.assign(this, { engine, catalogue, page });
    this.titles = Object.fromEntries(catalogue.agents.map((agent) => [agent.name, agent.title]));
    this.seats = [];
    this.run = 0; // goes up when what is under way no longer counts
    this.pace = Number(new URLSearchParams(location.search).get("pace") ?? PACE); // "?pace=0" for tests
    this.position = null;
    this.hand = new Hand({
      play: (action) => this.play(action),
      whyNot: async (card, target) => (await engine.why_not({ card, target_team: target })).reason,
    });
  }

  // Beginning ------------------------------------------------------------------------------------------------

  /** Deal a new game. */
  async begin(setup) {
    const { seats, ...game } = setup;
    this.stop();
    this.hand.rest(); // a click on the cards of before would play in the new game
    await this.engine.start(game);
    await this.sit(seats, false);
  }

  /** Take a game over from its text.
   * @param {string[]|function|null} seats who sits where, or what tells it from the position; null: nobody, it is
   *   stepped through.
   * @param {number|null} at where to look; null: at the end. */
  async load(text, { seats = null, episode = null, at = null } = {}) {
    this.stop();
    const loaded = await this.engine.load({ text, ...(episode ? { episode } : {}) });
    const position = await this.engine.goto(at ?? loaded.positions - 1);
    const seated = typeof seats === "function" ? seats(position) : seats;
    await this.sit(seated ?? Array(position.players).fill(NOBODY), false);
  }

  /** Sit down at the position that one looks at.
   * @param {boolean} isHere what followed is forgotten with the first play; false: it may be stepped through. */
  async sit(seats, isHere = true) {
    Object.assign(this, { seats, isHere, handBefore: null });
    this.hand.hasFocus = true;
    await this.goOn();
  }

  stop() {
    this.run += 1;
  }

  /** Whether one looks at an earlier position, and has not sat down there. */
  looksBack() {
    return this.position.at < this.position.plays && !this.isHere;
  }

  // Going on -------------------------------------------------------------------------------------------------

  /** Show the position, and let agents play until a person is to act. */
  async goOn() {
    this.stop();
    const run = this.run;
    try {
      for (;;) {
        await this.show();
        if (run !== this.run) return;
        await this.save();
        const { position } = this;
        if (this.looksBack()) return;
        if (position.over) return this.seats.includes(NOBODY) ? undefined : this.roundOver();
        const who = this.seats[position.to_act];
        if (who === YOU || who === NOBODY) return;
        const asked = this.engine.choose({ agent: who, seat: position.to_act });
        const [{ action }] = await Promise.all([asked, pause(position.asks === "play" ? this.pace : 0)]);
        if (run !== this.run) return;
        await this.engine.play(action);
      }
    } catch (error) {
      if (run === this.run) this.page.failed(error);
    }
  }

  /** Carry an action of the person out. */
  async play(action) {
    const seat = this.position.to_act;
    this.hand.rest();
    this.handBefore = seat === null ? null : { seat, hand: without(this.position.seats[seat].hand, this.position, action) };
    this.stop();
    try {
      await this.engine.play(action);
    } catch (error) {
      return this.refused(error);
    }
    await this.goOn();
  }

  /** Tell why an action was not carried out, and show the position again. */
  async refused(error) {
    this.page.failed(error);
    await this.show().catch(this.page.failed);
  }

  roundOver() {
    const deal = this.position.legal.find((one) => one.kind === "next_round");
    const isPlayed = this.seats.includes(YOU);
    showSheet(this.position, this.names, {
      again: this.page.again,
      next: deal ? () => (close(), this.play(deal.action)) : null,
      review: isPlayed ? this.page.reviewOf(this.position) : null,
      log: this.log,
      cards: this.catalogue.cards,
    });
  }

  /** Take the person's last decision back, with all that followed. */
  async undo() {
    this.stop();
    const [log, { at }] = await Promise.all([this.engine.log(), this.engine.position(null)]);
    const back = log.slice(0, at).findLastIndex((one) => one.seat !== null && this.seats[one.seat] === YOU);
    if (back < 0) return this.goOn();
    close();
    this.handBefore = null;
    for (let left = at - back; left > 0; left -= 1) await this.engine.undo();
    await this.goOn();
  }

  /** Show the position after `at` plays. */
  async goTo(at) {
    this.stop();
    this.wanted = at;
    this.isHere = false;
    this.handBefore = null;
    await this.engine.goto(at);
    await this.goOn();
  }

  // Showing --------------------------------------------------------------------------------------------------

  /** The viewing seat: the person to act, or the one who acted last; "all" if only agents play. */
  viewer(position) {
    const persons = this.seats.flatMap((who, seat) => (who === YOU ? [seat] : []));
    if (!persons.length) return "all";
    if (persons.includes(position.to_act)) return (this.lastViewer = position.to_act);
    return persons.includes(this.lastViewer) ? this.lastViewer : persons[0];
  }

  async show() {
    const run = this.run;
    const seen = await this.engine.position(null);
    const viewer = this.viewer(seen);
    const [position, log] = await Promise.all([this.engine.position(viewer), this.engine.log()]);
    if (run !== this.run) return;
    const isNext = position.at === this.position?.at + 1 && position.plays >= this.position.plays;
    const from = isNext ? this.#whereFrom(position.last) : null;
    this.position = position;
    this.wanted = null;
    this.names = new Names(this.seats, position.teams, this.titles, viewer);
    this.log = log;
    const shown = this.shown();
    drawBoard(find("board"), position, shown, (target) => this.hand.layAt(target));
    this.flash(from);
    find("mine").hidden = viewer === "all";
    if (viewer !== "all") this.hand.show(position, viewer, shown, this.canAct(), this.fresh(viewer));
    this.page.looked(this);
  }

  shown() {
    return { names: this.names, cards: this.catalogue.cards };
  }

  /** Return true if a person is to act, at the latest position. */
  canAct() {
    const { position } = this;
    return !position.over && !this.looksBack() && this.seats[position.to_act] === YOU;
  }

  /** The cards that the viewer has drawn since the last decision. */
  fresh(viewer) {
    if (!this.handBefore || this.handBefore.seat !== viewer) return [];
    const left = [...this.handBefore.hand];
    return this.position.seats[viewer].hand.filter((card) => {
      const place = left.indexOf(card);
      if (place >= 0) left.splice(place, 1);
      return place < 0;
    });
  }

  /** The start of a card's animation: another seat's cards, or the own hand; null: no animation. */
  #whereFrom(last) {
    if (!last || last.seat === null || matchMedia("(prefers-reduced-motion: reduce)").matches) return null;
    const place = document.querySelector(`.other[data-seat="${last.seat}"] .cards, .card[aria-pressed="true"]`);
    return place?.getBoundingClientRect() ?? null;
  }

  /** Mark the pile of the last card, and animate the card.
   * @param {DOMRect|null} from start of the animation; null: none. */
  flash(from) {
    const { last } = this.position;
    if (!last || last.seat === null) return;
    const target = /against team (\d)/.exec(last.words)?.[1];
    const place = last.words.startsWith("discard") ? "discard" : (target ?? String(last.seat % this.position.teams));
    const goal = document.querySelector(`[data-target="${place}"]`);
    goal?.classList.add("played");
    const title = last.words.replace(/^(play|discard) | against team \d$/g, "");
    const card = this.catalogue.cards.find((one) => one.title === title);
    if (!goal || !card || !from) return;
    const to = goal.getBoundingClientRect();
    const path = `left: ${from.left}px; top: ${from.top}px; --x: ${to.left + to.width / 2 - from.left}px; --y: ${to.top + to.height / 2 - from.top}px`;
    const flying = make("div", { class: "flying", "aria-hidden": "true", style: path, animationend: () => flying.remove() }, cardPicture(card.id));
    document.body.append(flying);
  }

  /** Describe the plays of others since the person's last decision. */
  news() {
    const { log, position, seats, names } = this;
    const past = log.slice(0, position.at);
    const since = past.findLastIndex((one) => one.seat !== null && seats[one.seat] === YOU) + 1;
    return past.slice(since).filter((one) => this.isPublic(one)).map((one) => capital(this.speaker(one) + names.said(one.words)));
  }

  speaker(entry) {
    return entry.seat === null ? "" : `${this.names.seat(entry.seat)}: `;
  }

  /** Return true if a play may be shown: a declined coup fourré reveals a safety, so only its seat or a viewer of all
   * hands sees it. */
  isPublic(entry) {
    return !entry.notation.endsWith(": pass") || this.names.viewer === "all" || this.seats[entry.seat] === YOU;
  }

  async save() {
    const { text } = await this.engine.record();
    keep(STORE, { text, seats: this.seats, episode: this.position.episode, at: this.position.at });
  }
}

/** Return the hand without the card of an action. */
function without(hand, position, action) {
  const card = position.legal.find((one) => one.action === action)?.card;
  const place = card === null || card === undefined || !hand ? -1 : hand.indexOf(card);
  return hand ? hand.filter((_, number) => number !== place) : [];
}
