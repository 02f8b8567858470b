// Rules that a person has changed: what such an edition is called, and the part of the form where they are changed.

import { labelOf, partsOfLabel } from "../labels.js";
import { capital, make } from "./elements.js";

/** A label such as "parker+hand_limit=7" as the edition and what it overrides. */
export function partsOf(label, catalogue) {
  return partsOfLabel(label, catalogue.editions.map((one) => one.name));
}

/** What an edition is called, with what was changed of its rules. */
export function titleOf(label, catalogue) {
  const { name, changes } = partsOf(label, catalogue);
  const title = catalogue.editions.find((one) => one.name === name)?.title ?? name;
  const count = Object.keys(changes).length;
  return title + (count ? `, ${count === 1 ? "one rule" : `${count} rules`} changed` : "");
}

/** Open what a field is folded away in, so that the browser can point at it. */
function showField(field) {
  for (let box = field.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
}

/** The part of the form where rules are changed; it is filled in when it is opened. */
export class OwnRules {
  /** @param {(edition: string, players: number, teams: number) => Promise<Object[]>} rulesOf of the engine.
   * @param {Object} changes what is overridden, numbers by rules. */
  constructor(rulesOf, changes) {
    Object.assign(this, { rulesOf, changes, table: null, filled: "" });
    this.summary = make("summary", {});
    this.place = make("div", { class: "own-rules" });
    this.element = make("details", { id: "own-rules", toggle: () => this.fill() }, this.summary, this.place);
    this.place.addEventListener("invalid", (event) => showField(event.target), true); // it does not bubble
    this.count();
  }

  /** The table that they are of.
   * @param {string} edition its name. */
  async show(edition, players, teams) {
    this.table = [edition, players, teams];
    await this.fill();
  }

  label() {
    return labelOf(this.table[0], this.changes);
  }

  count() {
    const count = Object.keys(this.changes).length;
    this.summary.textContent = count ? `Change the rules (${count} changed)` : "Change the rules";
  }

  async fill() {
    const table = String(this.table);
    if (!this.element.open || this.filled === table) return;
    this.filled = table;
    const rules = (await this.rulesOf(...this.table)).filter((one) => one.limits);
    if (this.filled !== table) return;
    const isOfDeck = (one) => one.field.startsWith("copies_of_");
    const part = (title, some) => make("details", {}, make("summary", { text: title }), ...some.map((one) => this.row(one)));
    const [deck, others] = [rules.filter(isOfDeck), rules.filter((one) => !isOfDeck(one))];
    const groups = [["The hand, the trip and moving", 0, "hazard_opens_pile"], ["Attacking and discarding", "hazard_opens_pile", "when_pile_is_empty"],
      ["The end of the round", "when_pile_is_empty", "count_points"], ["Scoring", "count_points", null]];
    const from = (field) => (field ? others.findIndex((one) => one.field === field) : field === 0 ? 0 : others.length);
    this.place.replaceChildren(
      make("p", { class: "hint", text: "What the edition says stands there already. Changed rules are checked when you deal." }),
      ...groups.map(([title, first, end]) => part(title, others.slice(from(first), from(end)))), part("The deck", deck),
      make("button", { type: "button", text: "As in the edition", click: () => this.reset() }));
  }

  reset() {
    for (const rule of Object.keys(this.changes)) delete this.changes[rule];
    this.filled = "";
    this.count();
    this.fill();
  }

  /** One rule: its question, and what it may be. */
  row({ field, question, usual, choices, limits: { least, most, step } }) {
    const id = `rule-${field}`;
    const value = this.changes[field] ?? usual;
    const control = choices.length
      ? make("select", { id }, ...choices.map((text, number) => make("option", { value: number, text: text.replaceAll("_", " ") + (number === usual ? " (as printed)" : "") })))
      : make("input", { id, type: "number", min: least, max: most, step, required: true });
    control.value = String(value);
    const line = make("div", { class: `rule${value === usual ? "" : " changed"}` }, make("label", { for: id, text: capital(question), title: field }), control);
    control.addEventListener("change", () => {
      const now = Number(control.value);
      if (!control.checkValidity()) return;
      if (now === usual) delete this.changes[field];
      else this.changes[field] = now;
      line.classList.toggle("changed", now !== usual);
      this.count();
    });
    return line;
  }
}
