// The page of a participant in a study: it begins when they are ready, and goes from one game to the next.

import { button, close, open, showSheet } from "./dialogs.js";
import { find, make } from "./elements.js";
import { Play } from "./play.js";

export class StudyPlay extends Play {
  /** Welcome the participant, or go on where they were. */
  async open() {
    document.body.dataset.study = "";
    find("new").textContent = "Begin";
    this.say("Welcome.");
    this.link = this.engine.link;
    this.seats = this.link.welcome.seats;
    this.link.changed = (problem) => (problem ? this.say(problem) : this.resume().catch(this.page.failed));
    await this.resume();
  }

  async resume() {
    const { welcome } = this.link;
    this.stop();
    if (welcome.game >= 0) {
      await this.link.showNext();
      return this.goOn();
    }
    if (welcome.waiting) return this.dealt();
    this.welcome(welcome);
  }

  welcome({ intro, games }) {
    const rounds = games === 1 ? "one game" : `${games} games, one after the other`;
    const own = intro ? intro.split(/\n\s*\n/).map((text) => make("p", { class: "intro", text })) : [];
    open("Welcome to this study", ...own,
      make("p", { text: `You play ${rounds}. What you decide and how long it takes you is written down.` }),
      make("p", { class: "hint", text: "Undo, advice, links and records are off in a study. If the page is closed, open your link again: the game goes on where it was." }),
      make("div", { class: "buttons" }, button("Begin", () => this.begin(0).catch((error) => this.refused(error)), true)));
  }

  /** Say that one is ready for the next game, and wait for the cards. */
  async begin(game) {
    close();
    await this.link.ask("begin", { game });
    await this.dealt();
  }

  async dealt() {
    this.stop();
    const { run } = this;
    if (!this.link.steps.length) this.say("Waiting for the others …");
    await this.link.stepped();
    if (run !== this.run) return;
    await this.link.showNext();
    this.hand.hasFocus = true;
    this.handBefore = null;
    await this.goOn();
  }

  async show() {
    await super.show();
    find("new").textContent = "Score sheet";
    find("new").hidden = !this.position.over;
    find("looking").hidden = true;
  }

  /** What the button "Begin" or "Score sheet" opens. */
  openAgain() {
    if (this.position) this.roundOver();
    else this.welcome(this.link.welcome);
  }

  viewer() {
    return this.link.welcome.seat;
  }

  /** The score sheet, and what comes next. */
  roundOver() {
    const { game, welcome } = this.link;
    const isLast = game + 1 >= welcome.games;
    const mayGoOn = this.position.legal.some((one) => one.kind === "next_round");
    showSheet(this.position, this.names, {
      next: mayGoOn ? () => this.nextRound().catch((error) => this.refused(error)) : null,
      again: isLast ? null : () => this.begin(game + 1).catch((error) => this.refused(error)),
      againWords: `Go on with game ${game + 2} of ${welcome.games}`,
      review: null,
      log: this.log,
      cards: this.catalogue.cards,
    });
    if (isLast && !mayGoOn) this.thank();
  }

  thank() {
    const words = "That was the last game. Thank you for taking part: you can close this page.";
    this.say(words);
    find("dialog-title").after(make("p", {}, make("strong", { text: words })));
  }

  /** Have the next round dealt, unless another participant of the table has had it dealt already. */
  async nextRound() {
    close();
    const { link } = this;
    if (!link.steps.length) {
      await link.ask("next_round").catch((error) => {
        if (!link.steps.length) throw error; // both asked at once
      });
    }
    await this.dealt();
  }

  /** Tell why nothing was played, and open the connection anew: the server then goes on where the game is. */
  async refused(error) {
    this.page.failed(error);
    this.link.reopen();
  }

  say(text) {
    find("status").replaceChildren(make("strong", { text }));
  }

  /** The server keeps the game. */
  async save() {}

  async undo() {
    await this.engine.undo();
  }

  async goTo() {
    await this.engine.goto();
  }
}
