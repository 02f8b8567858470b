// The engine of a study (python -m millebornes_env play --study DIR): the server plays the game and sends the own
// seat's view. Plays of the other seats arrive as steps, which the page shows one after the other.

const SHOW = -2; // answer of `choose`: show the next step
const FINAL = [1008, 4000]; // closing codes after which the page does not reconnect
const SLOWEST = 10_000;

const off = (what) => async () => {
  throw new Error(`${what} is off in a study.`);
};

/** The engine, an object with an async method for each message, like that of server_engine.js. */
export async function createEngine() {
  const token = /(?:^|[#&])join=([\w-]+)/.exec(location.hash)?.[1];
  if (!token) throw new Error("This is the page of a study: open the complete link that you have received.");
  const link = new Link(token);
  await link.welcomed;
  return {
    kind: "study",
    link,
    catalogue: async () => link.welcome.catalogue,
    rules: async () => link.welcome.rules,
    position: async () => link.view,
    log: async () => link.log.slice(0, link.view.at),
    play: (action) => (action === SHOW ? link.showNext() : link.decide(action)),
    choose: async () => (await link.stepped(), { action: SHOW }),
    why_not: ({ card, target_team = null }) => link.ask("why_not", { card, target_team }),
    start: off("Choosing a game"),
    load: off("Loading a record"),
    goto: off("Stepping through the game"),
    save: off("A link to the position"),
    record: off("The record of a running game"),
    undo: off("Undo"),
    think: off("The champion’s advice"),
  };
}

/** The connection to the server, which is opened again when it is lost. */
class Link {
  constructor(token) {
    Object.assign(this, { token, pending: new Map(), last: 0, steps: [], log: [], view: null, decision: null, wait: 1000 });
    this.changed = () => {}; // called when a connection is open again (null) or lost (reason)
    this.welcomed = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.#open();
  }

  #open() {
    const url = new URL("study", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    this.socket = new WebSocket(url);
    this.socket.addEventListener("open", () => this.socket.send(JSON.stringify({ type: "join", token: this.token })));
    this.socket.addEventListener("message", ({ data }) => this.#onMessage(JSON.parse(data)));
    this.socket.addEventListener("close", ({ code }) => this.#onClose(FINAL.includes(code)));
  }

  #onMessage(message) {
    if (message.type === "welcome") this.#begin(message);
    else if (message.type === "table") this.#onTable(message);
    else if (message.type === "answer") this.#onAnswer(message);
    else this.rejection = message.error;
  }

  #begin(welcome) {
    const isAgain = Boolean(this.welcome);
    Object.assign(this, { welcome, game: welcome.game, steps: [], log: [], wait: 1000 });
    if (isAgain) this.changed(null);
    else this.resolve();
  }

  #onTable({ game, steps, log, log_from, decision }) {
    Object.assign(this, { game, decision });
    this.log = [...this.log.slice(0, log_from), ...log];
    this.steps.push(...steps);
    this.arrived?.();
  }

  #onAnswer({ id, result, error }) {
    const { resolve, reject } = this.pending.get(id);
    this.pending.delete(id);
    if (error) reject(new Error(error));
    else resolve(result);
  }

  #onClose(isFinal) {
    const why = (isFinal && this.rejection) || "The connection to the study was lost.";
    for (const { reject } of this.pending.values()) reject(new Error(why));
    this.pending.clear();
    if (isFinal) {
      this.reject(new Error(why));
      return this.changed(why);
    }
    this.changed("The connection to the study was lost; reconnecting …");
    setTimeout(() => this.#open(), this.wait);
    this.wait = Math.min(2 * this.wait, SLOWEST);
  }

  /** Close the connection, which is then opened again. */
  reopen() {
    this.socket.close();
  }

  /** Send a message and return the answer. */
  ask(type, entries = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error("There is no connection to the study now; reconnecting."));
    const id = (this.last += 1);
    this.socket.send(JSON.stringify({ type, id, ...entries }));
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }

  /** Resolve when there is a step to show. */
  async stepped() {
    while (!this.steps.length) await new Promise((resolve) => (this.arrived = resolve));
  }

  /** Show the next step. */
  async showNext() {
    await this.stepped();
    this.view = this.steps.shift();
    this.shownAt = performance.now();
  }

  /** Send a decision; until the server sends the next step, no seat is to act. */
  async decide(action) {
    const ms = Math.round(performance.now() - this.shownAt);
    await this.ask("play", { decision: this.decision, action, ms });
    if (this.steps.length) return this.showNext();
    this.view = { ...this.view, to_act: null, asks: null, legal: [] };
  }
}
