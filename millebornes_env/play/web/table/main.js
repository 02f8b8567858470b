// The page: connects the engine, the table and the panels beside it.

import {
  askForGame, askWhoPlays, button, close, endWords, GOAL, open, plays, seated, showError, showHelp, showLink, showRecord, tableWords,
} from "./dialogs.js";
import { capital, find, make } from "./elements.js";
import { loadDrawing } from "./filling.js";
import { keep, keepDraft, kept, keptDraft, packed, SETUP, STORE, THEME, unpacked } from "./keeping.js";
import { NOBODY, YOU } from "./names.js";
import { partsOf, titleOf } from "./own_rules.js";
import { Play } from "./play.js";
import { review, showThought } from "./thoughts.js";

const USUAL = { edition: "parker", players: 2, teams: 2, episode: "round", seats: [YOU, "champion"] };
const JUDGES = ["champion", "strategist"]; // the first that plays at the table judges positions

let play;
let catalogue;
let engine;

// Opening ------------------------------------------------------------------------------------------------------

async function begin() {
  dressUp();
  listen();
  try {
    [engine] = await Promise.all([newEngine(), loadDrawing()]);
    catalogue = await engine.catalogue();
  } catch (error) {
    return say(capital(error.message), true);
  }
  if (engine.kind === "study") return takePart();
  play = new Play(engine, catalogue, { looked, failed: showError, again, reviewOf });
  find("goal").hidden = false;
  find("goal").open = !kept(STORE) && !kept(SETUP);
  find("goal").querySelector("p").textContent = GOAL;
  find("records").disabled = false;
  window.addEventListener("hashchange", () => resume().catch(showError));
  const draft = location.hash ? null : keptDraft();
  await resume().catch(offerAnother);
  if (draft) resumeTyping(draft);
}

/** Reopen the dialog with unfinished input after a reload of the page. */
function resumeTyping(draft) {
  if (draft.setup) newGame(draft.setup);
  else showRecord(draft.text, openText);
  keepDraft(draft);
}

/** Play in a study, where the server chooses the game. */
async function takePart() {
  const { StudyPlay } = await import("./study.js");
  play = new StudyPlay(engine, catalogue, { looked, failed: showError, again, reviewOf: () => null });
  await play.open();
}

/** Create the page's engine: that of the server, a study, or WebAssembly. */
async function newEngine() {
  const response = await fetch(new URL("../engine.json", import.meta.url)).catch(() => null);
  if (!response?.ok) throw new Error("The file engine.json is missing beside this page.");
  const config = await response.json();
  if (config.engine === "study") return (await import("../study_engine.js")).createEngine();
  if (config.engine === "server") return (await import("../server_engine.js")).createEngine(config);
  if (!("WebAssembly" in globalThis)) {
    throw new Error("This browser has no WebAssembly, which the page needs: use another browser, or type “python -m millebornes_env play”.");
  }
  const built = await fetch(new URL("../engine/engine.json", import.meta.url), { method: "HEAD" }).catch(() => null);
  if (!built?.ok) {
    throw new Error("The engine was not built into this folder (make web): type “python -m millebornes_env play” instead.");
  }
  return (await import("../worker_engine.js")).createEngine();
}

/** Open the link, resume the saved game, or deal the default one. */
async function resume() {
  const part = location.hash.slice(1);
  if (part) history.replaceState(null, "", location.pathname + location.search);
  const text = part ? await unpacked(part) : null;
  if (text !== null) return openText(text);
  const last = kept(STORE);
  if (last?.text) {
    try {
      return await play.load(last.text, last);
    } catch {
      // Saved by another version: start a new game.
    }
  }
  return play.begin(usualGame()).catch(offerAnother);
}

/** Say that no game could be opened. */
function offerAnother(error) {
  newGame();
  showError(error, button("New game", () => newGame(), true));
}

/** The default game: the settings of last time, or of the command line. */
function usualGame() {
  const { edition, players, teams, episode, seats, seed } = setup();
  const { name } = partsOf(edition, catalogue);
  const { tables } = catalogue.editions.find((one) => one.name === name) ?? catalogue.editions[0];
  const table = tables.find((one) => one.players === players && one.teams === teams) ?? tables[0];
  return { edition, ...table, episode, seats: seated(catalogue, table.players, table.teams, seats), seed: seed ?? null };
}

/** Step through a record; a position alone is played from there, with the other hands hidden. */
const openText = (text) => play.load(text, { at: 0, seats: whoPlaysOn });

/** You and agents at a position without plays; null for a record to step through. */
function whoPlaysOn(position) {
  if (position.plays > 0 || position.over) return null;
  const { name: rival } = catalogue.agents.find((agent) => plays(agent, position.players, position.teams));
  return Array.from({ length: position.players }, (_, seat) => (seat === position.to_act ? YOU : rival));
}

function setup() {
  const usual = Object.fromEntries(Object.entries(catalogue.usual ?? {}).filter(([, value]) => value !== null && value !== undefined));
  const asked = usual.against ? { seats: [YOU, ...Array(7).fill(usual.against)] } : {};
  return { ...USUAL, ...(kept(SETUP) ?? {}), ...usual, ...asked };
}

function newGame(typed = {}) {
  if (!play.position) say("Choose a game.");
  askForGame(catalogue, { ...setup(), ...typed }, engine.rules, (chosen) => {
    keep(SETUP, { ...chosen, seed: null });
    play.begin(chosen).catch(showError);
  });
}

function again() {
  const { edition, players, teams, episode } = play.position;
  close();
  play.begin({ edition, players, teams, episode, seed: null, seats: play.seats }).catch(showError);
}

// Beside the table ---------------------------------------------------------------------------------------------

/** Update the panels after each change of the position. */
function looked(now) {
  const { position } = now;
  find("link").disabled = false;
  find("undo").disabled = now.looksBack() || !now.log.slice(0, position.at).some((one) => one.seat !== null && now.seats[one.seat] === YOU);
  sayWhatIsUp(now);
  showSteps(now);
  showLog(now);
  showRules(now);
  think();
}

function say(text, isError = false) {
  find("status").replaceChildren(make("span", { class: isError ? "error" : "", text }));
}

function sayWhatIsUp(now) {
  const { position, names } = now;
  const news = now.news();
  const spoken = news.length ? make("span", { class: "news", text: `${news.slice(-4).join(". ")}. ` }) : null;
  find("status").replaceChildren(...[spoken, make("strong", { text: question(now, position, names) })].filter(Boolean));
}

function question(now, position, names) {
  if (now.looksBack()) return `Position ${position.at} of ${position.plays}.`;
  if (position.over) return `${endWords(position)}.`;
  const who = now.seats[position.to_act];
  if (who === NOBODY) return `${capital(names.seat(position.to_act))} is to ${position.asks === "play" ? "play" : "decide"}. Press “Play on from here” to join.`;
  if (who !== YOU) return position.asks === "play" ? `${capital(names.seat(position.to_act))} is thinking …` : "…";
  const several = now.seats.filter((one) => one === YOU).length > 1 ? `${capital(names.seat(position.to_act))} (seat ${position.to_act}): ` : "";
  return several + { play: "Your turn.", coup_fourre: "Coup fourré?", extension: "Extend the trip?" }[position.asks];
}

function showSteps(now) {
  const { at, plays: count, over } = now.position;
  const bar = find("looking");
  bar.hidden = !now.looksBack() && !(now.seats.includes(NOBODY) || (over && count));
  if (bar.hidden) return;
  const step = (text, title, to, by = 0) => {
    const click = () => go(by ? Math.min(count, Math.max(0, (now.wanted ?? at) + by)) : to); // also for fast clicks
    const one = make("button", { type: "button", "aria-label": title, title, text, "data-step": title, click });
    one.disabled = to < 0 || to > count || to === at;
    return one;
  };
  const focused = document.activeElement?.dataset?.step;
  const slider = make("input", { type: "range", min: 0, max: count, "aria-label": "Position", change: (event) => go(Number(event.target.value)) });
  slider.value = at;
  bar.replaceChildren(
    step("|◀", "First position", 0), step("◀", "One play back", at - 1, -1), step("▶", "One play on", at + 1, 1), step("▶|", "Last position", count),
    slider, make("span", { text: `${at} / ${count}` }),
    over ? button("Score sheet", () => now.roundOver()) : make("button", { type: "button", id: "play-on", text: "Play on from here", click: () => askWhoPlays(catalogue, now.position, (seats) => now.sit(seats).catch(showError)) }));
  if (focused) bar.querySelector(`[data-step="${focused}"]`)?.focus();
}

const go = (at) => play.goTo(at).catch(showError);

function showLog(now) {
  const list = find("log").querySelector("ol");
  list.replaceChildren(...now.log.flatMap((entry, number) => (now.isPublic(entry) ? [logLine(now, entry, number + 1)] : [])));
  const current = list.querySelector('[aria-current="true"]');
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}

function logLine(now, entry, after) {
  const words = capital(now.speaker(entry) + now.names.said(entry.words));
  const line = make("button", { type: "button", title: entry.notation, "aria-current": after === now.position.at ? "true" : null, click: () => go(after) }, words);
  return make("li", {}, line);
}

async function showRules(now) {
  const place = find("rules").querySelector("div");
  const { edition, players, teams } = now.position;
  const table = `${edition}/${players}/${teams}`;
  if (place.dataset.table === table || !find("rules").open) return;
  place.dataset.table = table;
  const rules = await engine.rules(edition, players, teams).catch((error) => [{ question: error.message, value: "" }]);
  const isChanged = (one) => one.usual !== undefined && one.number !== one.usual;
  const isOfDeck = (one) => one.field?.startsWith("copies_of_");
  const told = rules.filter((one) => one.limits !== null); // the heading shows seats and teams
  const rank = (one) => (isChanged(one) ? 0 : isOfDeck(one) ? 2 : 1);
  const inOrder = [...told].sort((one, other) => rank(one) - rank(other));
  place.replaceChildren(make("p", { text: `${titleOf(edition, catalogue)}, ${tableWords(players, teams)}` }),
    make("dl", {}, ...inOrder.flatMap((one) => [
      make("dt", { text: capital(one.question) }),
      make("dd", { text: isChanged(one) ? `${answer(one, one.number)} (the edition says ${answer(one, one.usual)})` : answer(one, one.number) })])));
}

const answer = (rule, number) => (rule.choices?.length ? rule.choices[number].replaceAll("_", " ") : String(number ?? rule.value));

// The champion -------------------------------------------------------------------------------------------------

/** The agent that judges at a table: the champion, or the strongest agent if there is none. */
function judgeOf({ players, teams }) {
  const fits = (name) => catalogue.agents.find((agent) => agent.name === name && plays(agent, players, teams));
  return JUDGES.map(fits).find(Boolean) ?? null;
}

const theTitle = (judge) => judge.title.toLowerCase();

/** Show the judge's opinion in the own turn, or if all cards are visible. */
async function think({ search = false } = {}) {
  const panel = find("thoughts");
  const place = panel.querySelector("div");
  const { position, names, run } = play;
  const judge = judgeOf(position);
  panel.hidden = !judge;
  if (!judge) return;
  panel.querySelector("summary").textContent = `What the ${theTitle(judge)} thinks`;
  const isAllowed = !position.over && (names.viewer === "all" || names.viewer === position.to_act);
  if (!panel.open) return;
  if (!isAllowed) return showThought(place, null, position, play.shown());
  try {
    const agent = judge.name;
    const thought = await engine.think({ agent, search });
    if (run !== play.run && position !== play.position) return;
    const believe = async () => (await engine.think({ agent, belief: true })).belief;
    showThought(place, thought, position, play.shown(), { search: () => think({ search: true }), believe });
  } catch (error) {
    showThought(place, null, position, play.shown(), { error: capital(error.message) });
  }
}

/** The button for the review by the judge. */
function reviewOf(position) {
  const judge = judgeOf(position);
  return judge && { title: `What would the ${theTitle(judge)} have done?`, act: () => showJudgement(judge) };
}

/** Review the last round: the worst decisions, by the judge. */
async function showJudgement(judge) {
  const { log, names, seats } = play;
  const { at } = play.position;
  const begun = log.slice(0, at).findLastIndex((one) => one.seat === null);
  const isOwn = (entry) => log.indexOf(entry) > begun && log.indexOf(entry) < at && entry.seat !== null && seats[entry.seat] === YOU;
  const progress = make("p", { role: "status", text: `The ${theTitle(judge)} looks at your decisions …` });
  let goesOn = true;
  const title = `What would the ${theTitle(judge)} have done?`;
  open(title, progress, button("Stop", () => (goesOn = false)));
  try {
    const worst = await review(engine, judge.name, log, isOwn, (done, of) => ((progress.textContent = `Decision ${done + 1} of ${of} …`), goesOn && find("dialog").open));
    await engine.goto(at);
    showReview(title, judge, worst.slice(0, 8), names);
  } catch (error) {
    await engine.goto(at);
    showError(error);
  }
}

function showReview(title, judge, worst, names) {
  const several = play.seats.filter((who) => who === YOU).length > 1;
  const who = (one) => (several ? `${capital(names.seat(one.played.seat))}, ` : "");
  const lines = worst.map((one) => make("li", {},
    `${capital(`${who(one)}${names.said(one.played.words)}`)}: the ${theTitle(judge)} would rather ${names.said(asVerb(one.better))}, worth some ${Math.round(one.loss)} ± ${Math.round(one.error)} ${one.unit} more. `,
    button("Look", () => (close(), go(one.at)))));
  open(title,
    worst.length ? make("ol", { class: "review" }, ...lines) : make("p", { text: "Nearly the same: no decision had a clearly better alternative." }),
    make("p", { class: "hint", text: "Estimated by playing on from your position with redealt hidden cards, so it is subject to chance." }),
    make("div", { class: "buttons" }, button("Play again", again, true), button("Close", close)));
}

/** Turn "Stop against team 1" into an action: "play Stop against team 1". */
const asVerb = (choice) => (choice.kind === "play" && !choice.words.startsWith("play") ? `play ${choice.words}` : choice.words);

// Buttons and keys ---------------------------------------------------------------------------------------------

function listen() {
  const clicked = {
    new: () => (engine.kind === "study" ? play.openAgain() : newGame()),
    undo: () => play.undo().catch(showError),
    records: async () => showRecord(play.position ? (await engine.record()).text : "", openText),
    link: async () => showLink(`${location.origin}${location.pathname}${location.search}#${await packed((await engine.save()).text)}`),
    theme: () => wear(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true),
    help: showHelp,
  };
  for (const [id, act] of Object.entries(clicked)) {
    find(id).addEventListener("click", () => (catalogue || id === "theme" || id === "help") && Promise.resolve(act()).catch(showError));
  }
  find("thoughts").addEventListener("toggle", () => play?.position && think());
  find("rules").addEventListener("toggle", () => play?.position && showRules(play));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey;
    const act = { u: () => find("undo").click(), h: () => ((find("thoughts").open = true), think()), "?": showHelp }[event.key.toLowerCase()];
    if (!typing && act && play?.position) act();
  });
}

/** The page that this one stands in, if it says whether it is light or dark. */
function pageAround() {
  try {
    return window.parent === window ? null : window.parent.document.documentElement;
  } catch {
    return null; // of another site
  }
}

function dressUp() {
  const around = pageAround();
  if (around?.dataset.theme) {
    const asAround = () => wear(around.dataset.theme);
    new MutationObserver(asAround).observe(around, { attributeFilter: ["data-theme"] });
    return asAround();
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = kept(THEME);
  wear(chosen ?? (system.matches ? "dark" : "light"));
  system.addEventListener("change", () => kept(THEME) || wear(system.matches ? "dark" : "light"));
}

function wear(theme, isChosen = false) {
  document.documentElement.dataset.theme = theme;
  find("theme").setAttribute("aria-pressed", String(theme === "dark"));
  if (isChosen) keep(THEME, theme);
}

begin();
