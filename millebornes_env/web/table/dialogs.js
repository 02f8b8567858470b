// What stands in front of the table: a new game, the score sheet, a record, the link, help.

import { capital, find, listed, make, number } from "./elements.js";
import { keepDraft } from "./keeping.js";
import { NOBODY, YOU } from "./names.js";
import { OwnRules, partsOf } from "./own_rules.js";

const GOAL = "Be the first to complete the trip. Lay a Roll to start (not every edition asks for it), then distance cards. Stop the others with hazards (red), and answer theirs with remedies (green). Safeties (blue) protect you for the whole round; held back until the hazard comes, they are a coup fourré.";

const dialog = () => find("dialog");

/** Open the dialog with this content. */
export function open(title, ...content) {
  const box = dialog();
  keepDraft(null); // what was typed in another dialog
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

/** Whether an agent plays at a table. */
export function plays(agent, players, teams) {
  return agent.tables === "all" || agent.tables.some(([seats, sides]) => seats === players && sides === teams);
}

/** Ask for a game: edition, table, who sits where.
 * @param {Object} catalogue of the engine.
 * @param {Object} last what was chosen last time: {edition, players, teams, episode, seats}.
 * @param {Function} rulesOf the rules of a table, from the engine.
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
  const complain = (error) => (problem.textContent = capital(error.message));
  const showTables = () => {
    const kept = table.value || `${last.players}/${last.teams}`;
    fill(table, chosen().tables.map(({ players, teams }) => [`${players}/${teams}`, tableWords(players, teams)]), kept);
    summary.textContent = chosen().summary ?? "";
    showSeats();
  };
  const showSeats = () => {
    const [players, teams] = size();
    const kept = [...seats.querySelectorAll("select")].map((one) => one.value);
    seats.replaceChildren(...seatChoices(catalogue, players, teams, kept.length ? kept : last.seats));
    ownRules.show(edition.value, players, teams).catch(complain);
  };
  edition.addEventListener("change", showTables);
  table.addEventListener("change", showSeats);
  showTables();
  const form = make("form", { submit: async (event) => {
    event.preventDefault();
    problem.textContent = "";
    const [players, teams] = size();
    const label = ownRules.label();
    try {
      if (label !== edition.value) await rulesOf(label, players, teams); // before the form is gone
    } catch (error) {
      return complain(error);
    }
    const sits = [...seats.querySelectorAll("select")].map((one) => one.value);
    close();
    begin({ edition: label, players, teams, episode: episode.value, seats: sits, seed: seed.value ? Number(seed.value) : null });
  } },
  row("Edition", edition, summary), make("div", { class: "seats" }, row("Table", table), row("Play", episode)),
  make("fieldset", {}, make("legend", { text: "Who sits where" }), seats,
    make("p", { class: "hint", text: "Partners sit across from each other. With nobody as “You” you watch." })),
  ownRules.element,
  row("Seed", seed, make("p", { class: "hint", text: "The same seed deals the same cards. Leave it empty for new ones." })),
  buttons(problem, make("button", { type: "submit", class: "main", id: "deal", text: "Deal the cards" }), closing("Cancel")));
  const draft = () => ({
    edition: ownRules.label(), players: size()[0], teams: size()[1], episode: episode.value, seed: seed.value,
    seats: [...seats.querySelectorAll("select")].map((one) => one.value),
  });
  for (const event of ["input", "change", "click"]) form.addEventListener(event, () => dialog().open && keepDraft({ setup: draft() }));
  open("A new game", ...(last.isFirst ? [make("p", { class: "hint", text: GOAL })] : []), form);
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

function seatChoices(catalogue, players, teams, kept) {
  const fitting = catalogue.agents.filter((agent) => plays(agent, players, teams));
  const names = [YOU, ...fitting.map((agent) => agent.name)];
  return Array.from({ length: players }, (_, seat) => {
    const usual = seat === 0 ? YOU : fitting[0].name;
    const value = names.includes(kept[seat]) ? kept[seat] : usual;
    const options = [[YOU, "You"], ...fitting.map((agent) => [agent.name, agent.title])];
    const team = players === teams ? "" : ` (team ${seat % teams})`;
    return row(`Seat ${seat}${team}`, select(`seat-${seat}`, options, value));
  });
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

/** Show how a round has ended.
 * @param {{again: Function, next: Function|null, review: Function|null, look: Function}} actions */
export function showSheet(position, names, actions) {
  const teams = position.sides.map((side) => side.team);
  const content = [make("p", { text: winnerWords(position, names) })];
  if (position.sheet) content.push(sheet(position, names, teams));
  const choices = [];
  if (actions.next) choices.push(button("Deal the next round", actions.next, true));
  else if (actions.again) choices.push(button(actions.againWords ?? "Play again", actions.again, true));
  if (actions.review) choices.push(button(actions.review.title, actions.review.act));
  choices.push(closing("Look at the table"));
  open(position.match_over && position.episode === "match" ? "The match is over" : `Round ${position.round_number + 1} is over`, ...content, buttons(...choices));
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
  const head = make("tr", {}, make("td"), ...teams.map((team) => make("th", { scope: "col", text: capital(names.team(team)) })));
  const line = (title, points, kind) => make("tr", { class: kind },
    make("th", { scope: "row", text: capital(title) }), ...teams.map((team) => make("td", { text: number(points[team]) })));
  const lines = position.sheet.map((one) => line(one.title, one.points, one.line === "round" ? "sum" : one.points.some(Boolean) ? "" : "none"));
  if (position.episode === "match") lines.push(line("match", position.sides.map((side) => side.score), "sum"));
  return make("table", { id: "score-sheet" }, make("thead", {}, head), make("tbody", {}, ...lines));
}

// Records and links --------------------------------------------------------------------------------------------

/** Show the game as text, and take another one over.
 * @param {string} text of the present game, or what somebody has typed.
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
    make("p", { class: "hint", text: "It holds every card, hidden ones too: who opens it can read them." }), buttons(copy, closing()));
  field.select();
}

/** Ask who plays on from a position of a record. */
export function askWhoPlays(catalogue, position, begin) {
  const usual = Array.from({ length: position.players }, (_, seat) => (seat === position.to_act ? YOU : NOBODY));
  const seats = make("div", { class: "seats" }, ...seatChoices(catalogue, position.players, position.teams, usual));
  const go = () => {
    const sits = [...seats.querySelectorAll("select")].map((one) => one.value);
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
