// The engine of a study (python -m millebornes_env play --study DIR): the game is played on the server, which sends
// what the own seat sees. The others' plays come as steps, which the page shows one after the other.

const SHOW = -2; // what `choose` answers: show the next step
const FINAL = [1008, 4000]; // closing codes after which the server wants no new connection
const SLOWEST = 10_000;

const off = (what) => async () => {
  throw new Error(`${what} is off in a study.`);
};

/** The engine, an object with an async method for each message, like that of server_engine.js. */
export async function createEngine() {
  const token = /(?:^|[#&])join=([\w-]+)/.exec(location.hash)?.[1];
  if (!token) throw new Error("This is the page of a study: open the link that you were given, all of it.");
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

/** The connection with the server, which is made anew when it breaks off. */
class Link {
  constructor(token) {
    Object.assign(this, { token, asked: new Map(), last: 0, steps: [], log: [], view: null, decision: null, wait: 1000 });
    this.changed = () => {}; // told when a new connection stands, and when one is lost
    this.welcomed = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.#open();
  }

  #open() {
    const url = new URL("study", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    this.socket = new WebSocket(url);
    this.socket.addEventListener("open", () => this.socket.send(JSON.stringify({ type: "join", token: this.token })));
    this.socket.addEventListener("message", ({ data }) => this.#heard(JSON.parse(data)));
    this.socket.addEventListener("close", ({ code }) => this.#lost(FINAL.includes(code)));
  }

  #heard(message) {
    if (message.type === "welcome") this.#begin(message);
    else if (message.type === "table") this.#told(message);
    else if (message.type === "answer") this.#answered(message);
    else this.refusal = message.error;
  }

  #begin(welcome) {
    const isAgain = Boolean(this.welcome);
    Object.assign(this, { welcome, game: welcome.game, steps: [], log: [], wait: 1000 });
    if (isAgain) this.changed(null);
    else this.resolve();
  }

  #told({ game, steps, log, log_from, decision }) {
    Object.assign(this, { game, decision });
    this.log = [...this.log.slice(0, log_from), ...log];
    this.steps.push(...steps);
    this.arrived?.();
  }

  #answered({ id, result, error }) {
    const { resolve, reject } = this.asked.get(id);
    this.asked.delete(id);
    if (error) reject(new Error(error));
    else resolve(result);
  }

  #lost(isFinal) {
    const why = (isFinal && this.refusal) || "The connection to the study was lost.";
    for (const { reject } of this.asked.values()) reject(new Error(why));
    this.asked.clear();
    if (isFinal) {
      this.reject(new Error(why));
      return this.changed(why);
    }
    this.changed("The connection to the study was lost; it is tried again …");
    setTimeout(() => this.#open(), this.wait);
    this.wait = Math.min(2 * this.wait, SLOWEST);
  }

  /** Send a message; what it is answered. */
  ask(type, entries = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error("There is no connection to the study now; it is tried again."));
    const id = (this.last += 1);
    this.socket.send(JSON.stringify({ type, id, ...entries }));
    return new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }));
  }

  /** Resolves when a step waits to be shown. */
  async stepped() {
    while (!this.steps.length) await new Promise((resolve) => (this.arrived = resolve));
  }

  /** Show the next step. */
  async showNext() {
    await this.stepped();
    this.view = this.steps.shift();
    this.shownAt = performance.now();
  }

  /** Decide; until the server has more to show, nobody is to act. */
  async decide(action) {
    const ms = Math.round(performance.now() - this.shownAt);
    await this.ask("play", { decision: this.decision, action, ms });
    if (this.steps.length) return this.showNext();
    this.view = { ...this.view, to_act: null, asks: null, legal: [] };
  }
}
