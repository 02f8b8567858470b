// The dialogs: new game, score sheet, record, link, help.

import { capital, drawn, find, listed, make, number } from "./elements.js";
import { keepDraft } from "./keeping.js";
import { NOBODY, shortName, YOU } from "./names.js";
import { OwnRules, partsOf } from "./own_rules.js";

export const GOAL = "Be the first to complete the trip. Lay a Roll to start (not every edition asks for it), then distance cards. Stop the others with hazards (red), and answer theirs with remedies (green). Safeties (blue) protect you for the whole round; held back until the hazard comes, they are a coup fourré.";

const dialog = () => find("dialog");

/** Open the dialog with this content. */
export function open(title, ...content) {
  const box = dialog();
  keepDraft(null); // the draft of another dialog
  box.onclose = () => keepDraft(null);
  box.replaceChildren(make("h2", { id: "dialog-title", text: title }), ...content);
  if (!box.open) box.showModal();
  box.scrollTop = 0;
}

export const close = () => dialog().close();

const buttons = (...all) => make("div", { class: "buttons" }, ...all);
export const button = (text, click, main = false) => make("button", { type: "button", class: main ? "main" : "", click, text });
const closing = (text = "Close") => button(text, close);

// A new game ---------------------------------------------------------------------------------------------------

/** Return true if an agent plays at a table. */
export function plays(agent, players, teams) {
  return agent.tables === "all" || agent.tables.some(([seats, sides]) => seats === players && sides === teams);
}

/** Ask for a game: edition, table, players of the seats.
 * @param {Object} catalogue of the engine.
 * @param {Object} last the last choice: {edition, players, teams, episode, seats}.
 * @param {Function} rulesOf returns the rules of a table, from the engine.
 * @param {(setup: Object) => void} begin */
export function askForGame(catalogue, last, rulesOf, begin) {
  const { name, changes } = partsOf(last.edition, catalogue);
  const edition = editionChoice(catalogue, name);
  const ownRules = new OwnRules(rulesOf, changes);
  const problem = make("p", { class: "error", role: "alert" });
  const table = select("table", [], "");
  const episode = select("episode", [["round", "one round"], ["match", "a match of several rounds"]], last.episode);
  const summary = make("p", { class: "hint" });
  const seats = make("div", { class: "seats" });
  const seed = make("input", { id: "seed", inputmode: "numeric", pattern: "[0-9]{0,15}", title: "A whole number of at most 15 digits, such as 7, or nothing", autocomplete: "off", value: last.seed ?? "" });
  const chosen = () => catalogue.editions.find((one) => one.name === edition.value);
  const size = () => table.value.split("/").map(Number);
  const showProblem = (error) => (problem.textContent = capital(error.message));
  const showTables = () => {
    const kept = table.value || `${last.players}/${last.teams}`;
    fill(table, chosen().tables.map(({ players, teams }) => [`${players}/${teams}`, tableWords(players, teams)]), kept);
    summary.textContent = chosen().summary ?? "";
    showSeats();
  };
  const showSeats = () => {
    const [players, teams] = size();
    const kept = chosenIn(seats);
    seats.replaceChildren(...seatChoices(catalogue, players, teams, kept.length ? kept : last.seats));
    ownRules.show(edition.value, players, teams).catch(showProblem);
  };
  edition.addEventListener("change", showTables);
  table.addEventListener("change", showSeats);
  showTables();
  const form = make("form", { submit: async (event) => {
    event.preventDefault();
    problem.textContent = "";
    const chosenGame = draft();
    try {
      if (chosenGame.edition !== edition.value) await rulesOf(chosenGame.edition, ...size()); // before the form is closed
    } catch (error) {
      return showProblem(error);
    }
    close();
    begin({ ...chosenGame, seed: seed.value ? Number(seed.value) : null });
  } },
  make("div", { class: "seats" }, row("Table", table), row("Play", episode)), seats, row("Edition", edition, summary),
  ownRules.element,
  make("details", { id: "more", open: Boolean(seed.value) }, make("summary", { text: "Deal the same cards again" }),
    row("Seed", seed, make("p", { class: "hint", text: "The same seed deals the same cards. Leave it empty for new ones." }))),
  buttons(problem, make("button", { type: "submit", class: "main", id: "deal", text: "Deal the cards" }), closing("Cancel")));
  const draft = () => ({
    edition: ownRules.label(), players: size()[0], teams: size()[1], episode: episode.value, seed: seed.value,
    seats: chosenIn(seats),
  });
  for (const event of ["input", "change", "click"]) form.addEventListener(event, () => dialog().open && keepDraft({ setup: draft() }));
  open("A new game", form);
  find("deal").focus({ preventScroll: true });
}

/** The editions, and the mini decks apart from them. */
function editionChoice(catalogue, value) {
  const options = (all) => all.map((one) => make("option", { value: one.name, text: one.title }));
  const group = (label, all) => (all.length ? make("optgroup", { label }, ...options(all)) : null);
  const minis = catalogue.editions.filter((one) => one.is_mini);
  const element = make("select", { id: "edition" },
    group("Editions", catalogue.editions.filter((one) => !one.is_mini)), group("Mini decks, a minute a round", minis));
  if (catalogue.editions.some((one) => one.name === value)) element.value = value;
  return element;
}

/** The players of the seats: as requested if possible, else you in seat 0 and the first fitting agent elsewhere. */
export function seated(catalogue, players, teams, asked) {
  const fitting = catalogue.agents.filter((agent) => plays(agent, players, teams)).map((agent) => agent.name);
  const fits = (who) => who === YOU || fitting.includes(who);
  return Array.from({ length: players }, (_, seat) => (fits(asked[seat]) ? asked[seat] : seat === 0 ? YOU : fitting[0]));
}

function seatChoices(catalogue, players, teams, asked, own = 0) {
  const fitting = catalogue.agents.filter((agent) => plays(agent, players, teams));
  const options = [[YOU, "You"], ...fitting.map((agent) => [agent.name, shortName(agent.title)])];
  return seated(catalogue, players, teams, asked).map((who, seat) => row(roleOf(seat, own, players, teams), select(`seat-${seat}`, options, who)));
}

const chosenIn = (seats) => [...seats.querySelectorAll("select")].map((one) => one.value);

/** The role of a seat from the view of the seat `own`: "Your seat", "Partner", "Opponent 2". */
function roleOf(seat, own, players, teams) {
  if (seat === own) return "Your seat";
  const isPartner = (other) => other !== own && other % teams === own % teams;
  const alike = Array.from({ length: players }, (_, place) => (own + place) % players)
    .filter((other) => other !== own && isPartner(other) === isPartner(seat));
  return (isPartner(seat) ? "Partner" : "Opponent") + (alike.length > 1 ? ` ${alike.indexOf(seat) + 1}` : "");
}

export function tableWords(players, teams) {
  return players === teams ? `${players} players` : `${players} players in ${teams} teams`;
}

function select(id, options, value) {
  const element = make("select", { id });
  fill(element, options, value);
  return element;
}

function fill(element, options, value) {
  element.replaceChildren(...options.map(([name, text]) => make("option", { value: name, text })));
  if (options.some(([name]) => name === value)) element.value = value;
}

function row(text, field, ...more) {
  return make("div", { class: "row" }, make("label", { for: field.id, text }), field, ...more);
}

// The score sheet ----------------------------------------------------------------------------------------------

/** Say whether the round or the match is over. */
export function endWords(position) {
  if (position.episode !== "match") return "The round is over";
  return position.match_over ? "The match is over" : `Round ${position.round_number + 1} is over`;
}

/** Show the result of a round.
 * @param {{again: Function, next: Function|null, review: Function|null, log: Object[], cards: Object[]}} actions */
export function showSheet(position, names, actions) {
  const teams = position.sides.map((side) => side.team);
  const content = [make("p", { class: "winner", text: winnerWords(position, names) }), curve(position, names, actions)];
  if (position.sheet) content.push(sheet(position, names, teams));
  const choices = [];
  if (actions.next) choices.push(button("Deal the next round", actions.next, true));
  else if (actions.again) choices.push(button(actions.againWords ?? "Play again", actions.again, true));
  if (actions.review) choices.push(button(actions.review.title, actions.review.act));
  choices.push(closing("Look at the table"));
  open(endWords(position), ...content, buttons(...choices));
}

function winnerWords(position, names) {
  const who = position.winners;
  const isMatch = position.match_over && position.episode === "match";
  const what = isMatch ? "match" : "round";
  const unit = position.sheet ? "points" : "km";
  const ofRound = position.sheet ? position.sheet.at(-1).points : position.sides.map((side) => side.km);
  const amounts = isMatch && position.sheet ? position.sides.map((side) => side.score) : ofRound;
  if (who === null) return "The match goes on.";
  if (who.length !== 1) return who.length ? `${capital(listed(who.map((team) => names.team(team))))} share the win.` : `Nobody has won this ${what}.`;
  const [team] = who;
  const lead = amounts[team] - Math.max(...amounts.filter((_, other) => other !== team));
  return `${capital(names.team(team))} ${names.isPlural(team) ? "win" : "wins"} the ${what}${lead > 0 ? ` by ${number(lead)} ${unit}` : ""}.`;
}

function sheet(position, names, teams) {
  const head = make("tr", {}, make("td"), ...teams.map((team) => make("th", { scope: "col", class: position.winners?.includes(team) ? "won" : "", text: capital(names.team(team)) })));
  const line = (title, points, kind) => make("tr", { class: kind },
    make("th", { scope: "row", text: capital(title) }), ...teams.map((team) => make("td", { text: number(points[team]) })));
  const lines = position.sheet.map((one) => line(one.title, one.points, one.line === "round" ? "sum" : one.points.some(Boolean) ? "" : "none"));
  if (position.episode === "match") lines.push(line("match", position.sides.map((side) => side.score), "sum"));
  return make("table", { id: "score-sheet" }, make("thead", {}, head), make("tbody", {}, ...lines));
}

/** The kilometres of each team, play by play. */
function curve(position, names, { log, cards }) {
  const [width, height, left, bottom] = [560, 150, 44, 22];
  const begun = log.slice(0, position.at).findLastIndex((one) => one.seat === null) + 1;
  const plays = log.slice(begun, position.at);
  const kmOf = new Map(cards.filter((card) => card.km).map((card) => [`play ${card.title}`, card.km]));
  const of = (team) => (one) => (one.seat % position.teams === team ? (kmOf.get(one.words) ?? 0) : 0);
  const most = Math.max(position.target, ...position.sides.map((side) => side.km));
  const x = (count) => left + ((width - left - 8) * count) / Math.max(1, plays.length);
  const y = (km) => 8 + (height - bottom - 8) * (1 - km / most);
  const lines = position.sides.map(({ team, km }) => {
    const gains = plays.map(of(team));
    let sum = km - gains.reduce((one, other) => one + other, 0); // kilometres at the start of a loaded position
    return drawn("path", { class: `line of-${team}`, d: `M${x(0)} ${y(sum)}${gains.map((gain, number) => `H${x(number + 1)}V${y((sum += gain))}`).join("")}` });
  });
  const axis = [0, position.target].flatMap((km) => [
    drawn("path", { class: "axis", d: `M${left} ${y(km)}H${width - 8}` }), drawn("text", { x: left - 6, y: y(km) + 4, "text-anchor": "end" }, `${number(km)}`)]);
  const words = `Kilometres of each team in ${plays.length} plays: ${listed(position.sides.map(({ team, km }) => `${names.team(team)} ${number(km)}`))}`;
  const keys = position.sides.map(({ team, km }) => make("li", { class: `of-${team}`, text: `${capital(names.team(team))}: ${number(km)} km` }));
  return make("figure", { id: "curve" },
    drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, ...axis, ...lines,
      drawn("text", { x: width - 8, y: height - 4, "text-anchor": "end" }, `${plays.length} plays`)),
    make("ul", {}, ...keys));
}

// Records and links --------------------------------------------------------------------------------------------

/** Show the game as text, and load another one.
 * @param {string} text of the current game, or a draft.
 * @param {(text: string) => Promise<void>} load */
export function showRecord(text, load) {
  const area = make("textarea", { id: "record-text", spellcheck: "false", "aria-label": "A position or a record" });
  area.value = text;
  area.addEventListener("input", () => keepDraft({ text: area.value }));
  const problem = make("p", { class: "error", role: "alert" });
  const take = async () => {
    try {
      await load(area.value);
      close();
    } catch (error) {
      problem.textContent = capital(error.message);
    }
  };
  const download = () => {
    const link = make("a", { href: URL.createObjectURL(new Blob([area.value], { type: "text/plain" })), download: "mille-bornes.txt" });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  open("Record of the game",
    make("p", { class: "hint", text: "This is the game so far. Paste another record or position here to step through it." }),
    area, problem, buttons(button("Load this text", take, true), button("Save as a file", download), closing()));
}

/** Show the link to a position. */
export function showLink(url) {
  const field = make("input", { id: "link-text", readonly: true, "aria-label": "Link", style: "width: 100%" });
  field.value = url;
  const copy = button("Copy", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(url);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Press Ctrl+C";
    }
  }, true);
  open("A link to this position", field,
    make("p", { class: "hint", text: "It contains all cards, including hidden ones: anyone who opens it can read them." }), buttons(copy, closing()));
  field.select();
}

/** Ask for the players who continue from a position of a record. */
export function askWhoPlays(catalogue, position, begin) {
  const usual = Array.from({ length: position.players }, (_, seat) => (seat === position.to_act ? YOU : NOBODY));
  const seats = make("div", { class: "seats" }, ...seatChoices(catalogue, position.players, position.teams, usual, position.to_act ?? 0));
  const go = () => {
    const sits = chosenIn(seats);
    close();
    begin(sits);
  };
  open("Play on from here", seats, buttons(button("Play", go, true), closing("Cancel")));
}

/** A sentence that something went wrong.
 * @param {Error} error
 * @param {...HTMLElement} others buttons for what one may do now. */
export function showError(error, ...others) {
  open("That did not work", make("p", { text: capital(error.message) }), buttons(...others, closing()));
}

/** How to play; in a study without what is off there. */
export function showHelp() {
  const isStudy = "study" in document.body.dataset;
  const keys = [["← →", "go through your cards"], ["Enter", "choose a card, and press a button"], ["Esc", "put the card back"],
    ...(isStudy ? [] : [["U", "take your last decision back"], ["H", "ask the champion"]]), ["?", "this help"]];
  const others = [
    make("p", { class: "hint", text: "“Record” shows the game as text, and opens another one; “Link” holds the position for others. The rules of this table, the log and what the champion thinks stand beside it. The game is kept in this browser, so that you can close the page." }),
    make("p", { class: "hint", text: "The other game of this project, a cycling race, has no page: “python -m millebornes_env play --edition arc_en_ciel” plays it on the terminal." }),
  ];
  open("How to play",
    make("p", { text: GOAL }),
    make("p", { text: "Click a card, then a button, or drag it: your own side for distances, remedies and safeties, another side for hazards, or the discard pile. A pale card cannot be laid now: click it to hear why. The sign before a name shows who drives (a green arrow) and who is stopped (a red bar)." }),
    make("dl", { class: "keys" }, ...keys.flatMap(([key, what]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text: what })])),
    ...(isStudy ? [] : others),
    buttons(closing()));
}
