// What an agent thinks of a position, and where it would have played otherwise.

import { capital, make, number, signed } from "./elements.js";

const SHOWN = 6;
const FEWEST = { points: 10, "% chance to win": 3 }; // what a better play must bring to be told
const POINTS = { words: "points", factor: 1 };
const CHANCES = { words: "% chance to win", factor: 50 }; // search then counts 1 for a win and -1 for a loss
const FIRST_SAFETY = 15;

/** What search counts in at a table. */
export const unitOf = (position) => (position.counts_points ? POINTS : CHANCES);

/** Fill the panel.
 * @param {HTMLElement} place
 * @param {Object|null} thought from the engine; null: nothing to show.
 * @param {Object} position
 * @param {{names: Names, cards: Object[]}} shown
 * @param {{search: Function|null, believe: Function|null, error: string}} more `believe` is asked for the belief about
 *   the hidden hands where it is to be seen: of each other seat {seat, p: a probability for each card}. */
export function showThought(place, thought, position, shown, { search = null, believe = null, error = "" } = {}) {
  if (!thought) return place.replaceChildren(make("p", { class: "hint", text: error || "Its opinion is shown when it is your turn." }));
  const isOpen = place.querySelector(".belief")?.open ?? false;
  const words = new Map(position.legal.map((one) => [one.action, capital(shown.names.said(one.words))]));
  const content = [];
  const worth = worthWords(thought, position, shown.names);
  if (worth) content.push(make("p", { class: "value", text: worth }));
  const bars = thought.probabilities.slice(0, SHOWN).map(({ action, p }) => bar(words.get(action), percent(p), p));
  content.push(make("p", { class: "hint", text: "It would play" }), make("ul", { class: "bars" }, ...bars));
  if (thought.search) content.push(...searched(thought.search, words, unitOf(position)));
  else if (search) content.push(make("button", { type: "button", click: search, text: "Search deeper" }));
  if (believe && position.seats.length > 1) content.push(beliefs(position, shown, believe, isOpen));
  place.replaceChildren(...content);
}

const percent = (p) => (p > 0 && p < 0.01 ? "< 1 %" : `${Math.round(100 * p)} %`);

function worthWords({ value, win }, position, names) {
  const who = names.team(position.to_act % position.teams);
  if (win !== null && win !== undefined) return `Gives ${who} a chance of ${percent(win)} to win.`;
  if (value === null || value === undefined) return "";
  const others = position.teams > 2 ? " of the others’ mean" : "";
  return `Expects ${who} to end the round ${number(Math.abs(Math.round(value)))} points ${value < 0 ? "behind" : "ahead"}${others}.`;
}

function searched(found, words, { words: unit, factor }) {
  const best = Math.max(...found.map((one) => one.mean));
  const ranked = [...found].sort((one, other) => other.mean - one.mean);
  const lines = ranked.slice(0, SHOWN).map(({ action, mean, error }) =>
    bar(words.get(action), `${signed(factor * mean)} ± ${number(Math.round(factor * error))}`, best > 0 ? Math.max(0, mean / best) : 0));
  return [make("p", { class: "hint", text: `Search: ${unit} more than its first choice` }), make("ul", { class: "bars" }, ...lines)];
}

function bar(words, amount, share) {
  const line = make("li", {}, make("span", { text: words ?? "?" }), make("span", { text: amount }));
  line.style.setProperty("--p", String(share));
  return line;
}

// The hidden hands ---------------------------------------------------------------------------------------------

/** The panel of beliefs about hidden hands; computed when it is opened. */
function beliefs(position, shown, believe, isOpen) {
  const place = make("div", {});
  const fill = async () => {
    if (!box.open || place.childElementCount) return;
    const found = await believe().catch((error) => error);
    if (found instanceof Error) return place.replaceChildren(make("p", { class: "error", text: capital(found.message) }));
    place.replaceChildren(
      make("p", { class: "hint", text: "Probability of each card in a hidden hand:" }),
      ...found.flatMap((one) => handOf(one, position, shown)));
  };
  const box = make("details", { class: "belief", open: isOpen, toggle: fill }, make("summary", { text: "Cards in hidden hands" }), place);
  fill();
  return box;
}

/** The safeties and the likeliest other cards of a hidden hand; held cards are marked if all hands are visible. */
function handOf({ seat, p }, position, shown) {
  const { hand } = position.seats[seat];
  const line = (card) => bar(shown.cards[card].title + (hand?.includes(card) ? " ✓" : ""), percent(p[card]), p[card]);
  const cards = shown.cards.map((one) => one.id).filter((card) => p[card] > 0);
  const safeties = cards.filter((card) => card >= FIRST_SAFETY);
  const others = cards.filter((card) => card < FIRST_SAFETY).sort((one, other) => p[other] - p[one]).slice(0, SHOWN);
  return [
    make("h2", { text: `${capital(shown.names.seat(seat))}${position.seats.length > 2 && shown.names.isOwn(seat % position.teams) ? " (partner)" : ""}` }),
    make("ul", { class: "bars", "data-seat": seat }, ...safeties.map(line), ...others.map(line)),
  ];
}

// After the round ----------------------------------------------------------------------------------------------

/** Find the decisions with the largest loss in an agent's judgement.
 * @param {Object} engine
 * @param {string} judge the agent.
 * @param {Object[]} log of the game.
 * @param {(entry: Object) => boolean} isOwn returns true for plays to judge.
 * @param {(done: number, of: number) => boolean} report receives the progress; false stops.
 * @returns {Promise<Object[]>} the decisions, the worst first. */
export async function review(engine, judge, log, isOwn, report) {
  const own = log.flatMap((entry, at) => (isOwn(entry) ? [{ entry, at }] : []));
  const found = [];
  for (const [number, { entry, at }] of own.entries()) {
    if (!report(number, own.length)) break;
    const position = await engine.goto(at);
    if (position.legal.length < 2) continue;
    const judged = judgement(entry, await engine.think({ agent: judge, search: true }), unitOf(position));
    if (judged) found.push({ ...judged, at, played: entry, better: position.legal.find((one) => one.action === judged.best) });
  }
  return found.sort((a, b) => b.loss - a.loss);
}

/** The loss of a play against the best one, by search; null: too small, or unknown. */
function judgement(entry, thought, { words: unit, factor }) {
  const gains = thought.search ?? [];
  const best = gains.reduce((a, b) => (b.mean > a.mean ? b : a), { mean: -Infinity });
  const own = gains.find((one) => one.action === entry.action);
  if (!own || best.action === entry.action) return null;
  const [loss, error] = [factor * (best.mean - own.mean), factor * Math.hypot(best.error, own.error)];
  return loss >= Math.max(FEWEST[unit], error) ? { best: best.action, loss, error, unit } : null;
}
