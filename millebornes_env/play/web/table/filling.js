// Fills in the templates of the drawing; render/filling.py does the same for Python.

import { drawn, number } from "./elements.js";

const ROAD = 388; // how far the car goes to the right, in units of the template
const NAME_LETTERS = 29; // more would reach the kilometres
const SAFETIES = [15, 16, 17, 18];
const DISTANCES = [0, 1, 2, 3, 4];

const templates = {};

/** Fetch the drawing: the cards for all the page to use, and the template of a team's side. */
export async function loadDrawing() {
  const [cards, side] = await Promise.all(["cards.svg", "side.svg"].map(fetched));
  document.getElementById("symbols").replaceChildren(document.importNode(cards, true));
  templates["side.svg"] = side;
}

async function fetched(name) {
  const response = await fetch(new URL(`../drawing/${name}`, import.meta.url));
  if (!response.ok) throw new Error(`The drawing ${name} is missing beside this page.`);
  return new DOMParser().parseFromString(await response.text(), "image/svg+xml").documentElement;
}

/** A team's name with what follows it, cut where it would reach the kilometres. */
function fitted(name, after) {
  const room = NAME_LETTERS - after.length;
  return (name.length <= room ? name : `${name.slice(0, room - 1)}…`) + after;
}

/** What the template side.svg is filled in with: a value for each name in it. */
export function valuesOfSide(side, target, name, after = "") {
  const laid = new Map(side.safeties.map((one) => [one.card, one.coup_fourre]));
  const values = {
    name: fitted(name, after),
    km: `${number(side.km)} / ${number(target)} km`,
    rolling: side.can_drive ? 1 : 0,
    stopped: side.can_drive ? 0 : 1,
    cured: side.cured ? 1 : 0,
    car: Math.round(10 * ROAD * Math.min(1, side.km / Math.max(target, 1))) / 10,
    battle: side.battle.at(-1) ?? null,
    under: side.battle.at(-2) ?? null,
    speed: side.speed.at(-1) ?? null,
    pending: side.pending ?? null,
  };
  for (const card of SAFETIES) {
    values[`safety_${card}`] = laid.get(card) === false ? card : null;
    values[`coup_${card}`] = laid.get(card) === true ? card : null;
  }
  for (const card of DISTANCES) {
    const count = side.distances[card] ?? 0;
    ["first", "second", "third"].forEach((place, below) => {
      values[`${place}_${card}`] = count > below ? card : null;
    });
    values[`count_${card}`] = count > 1 ? `×${count}` : "";
  }
  return values;
}

/** A template with its values, as an element of its own. */
export function filled(template, values) {
  const root = document.importNode(templates[template], true);
  for (const element of [...root.querySelectorAll("[data-if], [data-card], [data-text], [data-x], [data-class]")]) {
    fill(element, element.dataset, values);
  }
  return root;
}

function fill(element, { if: condition, card, text, x, class: name }, values) {
  if (condition !== undefined && [null, undefined, 0, ""].includes(values[condition])) return element.remove();
  if (card !== undefined) {
    if (values[card] === null || values[card] === undefined) return element.remove();
    element.setAttribute("href", `#card-${values[card]}`);
  }
  if (text !== undefined) element.textContent = values[text];
  if (x !== undefined) element.setAttribute("transform", `translate(${values[x]} 0)`);
  if (name !== undefined) element.classList.add(values[name]);
  for (const rule of ["if", "card", "text", "x", "class"]) delete element.dataset[rule];
}

/** One card as a picture that says nothing by itself; what stands around it says which card it is. */
export function cardPicture(card) {
  return drawn("svg", { class: "mb", viewBox: "0 0 100 140", "aria-hidden": "true" }, drawn("use", { href: `#card-${card}` }));
}
