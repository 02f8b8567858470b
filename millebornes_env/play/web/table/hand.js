// The own hand: choosing a card by click, by keyboard, or by dragging it where it is to lie.

import { capital, find, make } from "./elements.js";
import { cardPicture } from "./filling.js";

const FAR = 8; // so many pixels make a drag of a click

export class Hand {
  /** @param {{play: (action: number) => void, whyNot: (card: number, target: number|"discard") => Promise<string>}} table */
  constructor(table) {
    this.table = table;
    this.chosen = null; // index of the card in the hand
    this.position = null;
    this.hasFocus = true;
    find("hand").addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show the hand and the legal actions.
   * @param {Object} position from the engine.
   * @param {number} seat the seat of the hand.
   * @param {{names: Names, cards: Object[]}} shown
   * @param {boolean} canAct true if it is this seat's turn.
   * @param {number[]} fresh cards that were drawn since the last decision. */
  show(position, seat, shown, canAct, fresh) {
    this.#watchFocus();
    Object.assign(this, { position, seat, shown, canAct, chosen: null });
    this.cards = position.seats[seat].hand ?? [];
    const left = [...fresh];
    find("why").textContent = "";
    find("hand").style.setProperty("--cards", Math.max(7, this.cards.length));
    find("hand").replaceChildren(...this.cards.map((card, place) => {
      const isFresh = left.includes(card) && this.cards[place + 1] !== card;
      if (isFresh) left.splice(left.indexOf(card), 1);
      return this.#button(card, place, isFresh);
    }));
    this.#choices();
    if (this.hasFocus && canAct) this.focus();
  }

  /** Accept no input until the next position is shown, so that a second click does not play twice. */
  rest() {
    this.#watchFocus();
    this.canAct = false;
    find("choices").replaceChildren();
    this.#mark(null);
  }

  /** Move the focus to the decision; it returns here after the others have played. */
  focus() {
    this.hasFocus = true;
    (this.position?.asks === "play" ? find("hand") : find("choices")).querySelector("button")?.focus({ preventScroll: true });
  }

  /** Note if the focus is here, or was on a button that was removed. */
  #watchFocus() {
    const active = document.activeElement;
    if (active && active !== document.body) this.hasFocus = active.closest("#mine") !== null;
  }

  #button(card, place, isFresh) {
    const title = this.shown.cards[card].title;
    const canLay = this.#playsOf(card).length > 0;
    const isIdle = this.canAct && this.position.asks === "play" && !canLay;
    const words = title + (isFresh ? ", just drawn" : "") + (isIdle ? ", cannot be laid now" : "");
    const button = make("button", {
      type: "button", class: `card${isFresh ? " fresh" : ""}${isIdle ? " idle" : ""}`, "aria-label": words, title,
      "aria-pressed": "false", tabindex: place === 0 ? "0" : "-1", "data-card": card,
    }, cardPicture(card));
    button.addEventListener("click", () => this.#click(place));
    button.addEventListener("dblclick", () => this.#playObvious(card));
    button.addEventListener("pointerdown", (event) => this.#maybeDrag(event, card, place));
    return button;
  }

  #legal(card) {
    return this.canAct && this.position.asks === "play" ? this.position.legal.filter((one) => one.card === card) : [];
  }

  #playsOf(card) {
    return this.#legal(card).filter((one) => one.kind === "play");
  }

  #click(place) {
    if (this.dragged) return void (this.dragged = false);
    this.choose(this.chosen === place ? null : place);
  }

  /** Select a card, or none (null). */
  choose(place) {
    this.chosen = place;
    find("why").textContent = "";
    [...find("hand").children].forEach((button, number) => {
      button.setAttribute("aria-pressed", String(number === place));
      button.tabIndex = number === (place ?? 0) ? 0 : -1;
    });
    this.#mark(place === null ? null : this.cards[place]);
    this.#choices();
  }

  /** Mark the legal targets of the card. */
  #mark(card) {
    const targets = card === null ? [] : this.#legal(card).map((one) => String(one.kind === "discard" ? "discard" : one.target_team));
    for (const element of document.querySelectorAll("[data-target]")) {
      element.classList.toggle("target", targets.includes(element.dataset.target));
    }
  }

  async #choices() {
    const place = find("choices");
    const { position, shown, canAct } = this;
    const buttons = (choices, main = 0) => choices.map((one, number) => make("button", {
      type: "button", class: number === main ? "main" : "", "data-kind": one.kind, click: () => this.table.play(one.action),
      text: capital(shown.names.said(one.words)),
    }));
    if (!canAct) return place.replaceChildren();
    if (position.asks !== "play") return place.replaceChildren(make("p", { text: this.#question() }), ...buttons(position.legal));
    if (this.chosen === null) {
      return place.replaceChildren(make("p", { text: this.#advice() }));
    }
    const card = this.cards[this.chosen];
    const chosen = this.chosen;
    place.replaceChildren(...buttons(this.#legal(card)));
    if (!this.#playsOf(card).length) {
      const reasons = await this.#reasons(card);
      if (this.chosen === chosen && this.position === position) this.#explain(card, reasons);
    }
  }

  /** A hint for the current turn, also for beginners. */
  #advice() {
    const canLay = this.position.legal.some((one) => one.kind === "play");
    if (!canLay) return "No card can be laid now: choose one to discard.";
    const isPale = this.cards.some((card) => !this.#playsOf(card).length);
    return `Choose a card to lay, or drag it to its place.${isPale ? " Pale ones cannot be laid now, only discarded." : ""}`;
  }

  #question() {
    const { position, shown } = this;
    if (position.asks === "extension") return `You have done ${position.target} km. Go on for a longer trip?`;
    const pending = position.pending;
    if (!pending) return "Claim the coup fourré?";
    const whose = shown.names.said(`team ${pending.team}`);
    return `${capital(shown.names.seat(pending.by))} lays ${shown.cards[pending.card].title} against ${whose}, and you hold the safety against it!`;
  }

  async #reasons(card) {
    const own = this.seat % this.position.teams;
    const isHazard = this.shown.cards[card].kind === "hazard";
    const teams = this.position.sides.map((side) => side.team).filter((team) => (team === own) !== isHazard);
    return [...new Set(await Promise.all(teams.map((team) => this.table.whyNot(card, team))))];
  }

  #explain(card, reasons) {
    const said = reasons.filter(Boolean).map((reason) => this.shown.names.said(reason));
    find("why").textContent = said.length ? `${this.shown.cards[card].title} cannot be laid: ${said.join("; ")}.` : "";
  }

  /** Play the selected card there, or say why it cannot be played.
   * @param {number|"discard"} target */
  async layAt(target) {
    if (this.chosen !== null) await this.#layCard(this.cards[this.chosen], target);
  }

  async #layCard(card, target) {
    const fits = (one) => (target === "discard" ? one.kind === "discard" : one.kind === "play" && one.target_team === target);
    const choice = this.#legal(card).find(fits);
    if (choice) return this.table.play(choice.action);
    this.#explain(card, [await this.table.whyNot(card, target)]);
  }

  #playObvious(card) {
    const laid = this.#playsOf(card);
    if (laid.length === 1) this.table.play(laid[0].action);
  }

  // Keyboard -------------------------------------------------------------------------------------------------

  #key(event) {
    const buttons = [...find("hand").children];
    const at = buttons.indexOf(document.activeElement);
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -at, End: buttons.length - 1 - at };
    if (event.key in steps && at >= 0) {
      buttons[(at + steps[event.key] + buttons.length) % buttons.length].focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      this.choose(null);
    } else if (["Enter", " "].includes(event.key) && at >= 0) {
      event.preventDefault();
      this.choose(at);
      find("choices").querySelector("button")?.focus();
    }
  }

  // Dragging -------------------------------------------------------------------------------------------------

  #maybeDrag(start, card, place) {
    if (!this.canAct || this.position.asks !== "play" || start.button !== 0) return;
    const button = start.currentTarget;
    const drag = { ghost: null };
    const move = (event) => {
      if (!drag.ghost && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < FAR) return;
      if (!drag.ghost) {
        this.choose(place);
        drag.ghost = make("div", { class: "ghost" }, cardPicture(card));
        document.body.append(drag.ghost);
      }
      drag.ghost.style.left = `${event.clientX}px`;
      drag.ghost.style.top = `${event.clientY}px`;
      const over = targetAt(event);
      for (const element of document.querySelectorAll("[data-target]")) element.classList.toggle("over", element === over);
    };
    const end = (event) => {
      button.removeEventListener("pointermove", move);
      button.removeEventListener("pointerup", end);
      button.removeEventListener("pointercancel", end);
      document.querySelectorAll(".over").forEach((element) => element.classList.remove("over"));
      if (!drag.ghost) return;
      drag.ghost.remove();
      this.dragged = event.type === "pointerup";
      setTimeout(() => (this.dragged = false));
      const over = event.type === "pointerup" ? targetAt(event) : null;
      if (over) this.#layCard(card, over.dataset.target === "discard" ? "discard" : Number(over.dataset.target));
    };
    button.setPointerCapture(start.pointerId);
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }
}

function targetAt(event) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-target]") ?? null;
}
