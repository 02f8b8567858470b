// What the champion thinks of a position, and where it would have played otherwise.

import { capital, make, number, signed } from "./elements.js";

const SHOWN = 6;
const FEWEST_POINTS = 10;

/** Fill the panel.
 * @param {HTMLElement} place
 * @param {Object|null} thought from the engine; null: nothing to show.
 * @param {Object} position
 * @param {{names: Names, cards: Object[]}} shown
 * @param {{search: Function|null, error: string}} more */
export function showThought(place, thought, position, shown, { search = null, error = "" } = {}) {
  if (!thought) return place.replaceChildren(make("p", { class: "hint", text: error || "It thinks when it is your turn." }));
  const words = new Map(position.legal.map((one) => [one.action, capital(shown.names.said(one.words))]));
  const content = [];
  if (thought.value !== null && thought.value !== undefined) {
    const lead = `${number(Math.abs(Math.round(thought.value)))} points ${thought.value < 0 ? "behind" : "ahead"}`;
    content.push(make("p", { class: "value" }, `Expects ${shown.names.seat(position.to_act)} to end the round ${lead}.`));
  }
  const bars = thought.probabilities.slice(0, SHOWN).map(({ action, p }) => bar(words.get(action), `${Math.round(100 * p)} %`, p));
  content.push(make("p", { class: "hint", text: "It would play" }), make("ul", { class: "bars" }, ...bars));
  if (thought.search) {
    const best = Math.max(...thought.search.map((one) => one.mean));
    const lines = thought.search.slice(0, SHOWN).map(({ action, mean, error: spread }) =>
      bar(words.get(action), `${signed(mean)} ± ${number(Math.round(spread))}`, best > 0 ? Math.max(0, mean / best) : 0));
    content.push(make("p", { class: "hint", text: "Search: points more than its first choice" }), make("ul", { class: "bars" }, ...lines));
  } else if (search) content.push(make("button", { type: "button", click: search, text: "Search deeper" }));
  if (thought.belief) content.push(...belief(thought.belief, shown));
  place.replaceChildren(...content);
}

function bar(words, amount, share) {
  const line = make("li", {}, make("span", { text: words ?? "?" }), make("span", { text: amount }));
  line.style.setProperty("--p", String(share));
  return line;
}

/** What it believes the others to hold: the likeliest cards. */
function belief(cards, shown) {
  const likely = [...cards].sort((a, b) => b.p - a.p).slice(0, SHOWN);
  return [make("p", { class: "hint", text: "It believes that these cards are held" }),
    make("ul", { class: "bars" }, ...likely.map(({ seat, card, p }) =>
      bar(`${capital(shown.names.seat(seat))}: ${shown.cards[card].title}`, `${Math.round(100 * p)} %`, p)))];
}

/** Where a player lost most in the champion's judgement.
 * @param {Object} engine
 * @param {Object[]} log of the game.
 * @param {(entry: Object) => boolean} isOwn whether a play is to be judged.
 * @param {(done: number, of: number) => boolean} tell is told how far it is; false: stop.
 * @returns {Promise<Object[]>} the decisions, the worst first. */
export async function review(engine, log, isOwn, tell) {
  const own = log.flatMap((entry, at) => (isOwn(entry) ? [{ entry, at }] : []));
  const found = [];
  for (const [number, { entry, at }] of own.entries()) {
    if (!tell(number, own.length)) break;
    const position = await engine.goto(at);
    if (position.legal.length < 2) continue;
    const thought = await engine.think({ agent: "champion", search: true });
    const judged = judgement(entry, thought);
    if (judged && judged.loss >= Math.max(FEWEST_POINTS, judged.error)) found.push({ ...judged, at, played: entry, better: position.legal.find((one) => one.action === judged.best) });
  }
  return found.sort((a, b) => b.loss - a.loss);
}

/** How much a play lost against the best one, by search; null: nothing is known. */
function judgement(entry, thought) {
  const gains = thought.search ?? [];
  const best = gains.reduce((a, b) => (b.mean > a.mean ? b : a), { mean: -Infinity });
  const own = gains.find((one) => one.action === entry.action);
  if (!own || best.action === entry.action) return null;
  return { best: best.action, loss: best.mean - own.mean, error: Math.hypot(best.error, own.error) };
}
