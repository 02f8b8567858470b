// Rule sheets with overrides ("parker+hand_limit=7"): their records, checks, and champions.
//
// `engine.json` has the limits of single values; the kernel `rules_problem` checks combinations.

import { labelOf, partsOfLabel } from "./labels.js";
import { EngineError } from "./wasm_kernels.js";

/** The rule sheets, found by their names or by labels. */
export class Sheets {
  /** @param {Kernels} kernels */
  constructor(kernels) {
    this.data = kernels.data;
    this.tried = kernels.records("rules", 1);
    this.problem = kernels.prepare("rules_problem", [this.tried]);
    this.preferred = kernels.prepare("preferred_champion", [this.tried]);
  }

  /** Return the sheet and the table of an edition, perhaps with overrides, and the values without overrides. */
  find(edition, players = 2, teams = null) {
    const { data } = this;
    const { name, changes, problem } = partsOfLabel(edition, data.editions.map((one) => one.name));
    if (problem) throw new EngineError(problem);
    const { sheet, table } = this.ofSheet(name, players, teams);
    const usual = table.values;
    const values = overriddenValues(data, table, changes);
    const isChanged = Object.keys(changes).length > 0;
    if (isChanged) this.check(values);
    const champion = isChanged ? table.champions_if_changed[this.preferred()] : table.champion;
    const changed = { ...table, values, champion, roll_goes: whereRollGoes(data, values) };
    return { sheet: { ...sheet, name: labelOf(sheet.name, changes) }, table: changed, usual };
  }

  /** Check that the rules make a game. */
  check(values) {
    this.tried.bytes.set(recordOfRules(this.data, values));
    const problem = this.problem();
    if (problem >= 0) throw new EngineError(`These rules make no game: ${problemWords(this.data, values, problem)}.`);
  }

  ofSheet(edition, players, teams) {
    const sheet = this.data.editions.find(({ name }) => name === edition || name.replace(/-v[0-9]+$/, "") === edition);
    if (!sheet) {
      const known = this.data.editions.map(({ name }) => name).join(", ");
      throw new EngineError(`There is no edition '${edition}'; the editions are ${known}. Other games are played on the terminal: “python -m millebornes_env play”.`);
    }
    const table = sheet.tables.find((one) => one.players === players && (teams === null || one.teams === teams));
    if (!table) {
      const known = sheet.tables.map((one) => `${one.players} players in ${one.teams} teams`).join(", ");
      const asked = teams === null ? `${players} players` : `${players} players in ${teams} teams`;
      throw new EngineError(`The edition '${edition}' has no table for ${asked}; it has ${known}.`);
    }
    return { sheet, table };
  }

  /** See `WasmEngine.rules`. */
  rules(edition, players, teams) {
    const { table, usual } = this.find(edition, players, teams);
    return this.data.rules.map(({ unit, ...rule }, place) => {
      const number = table.values[place];
      return { ...rule, value: rule.choices.length ? rule.choices[number] : number, number, usual: usual[place] };
    });
  }
}

/** Return the values of a table's rules with overrides, after checking the limits of each. */
export function overriddenValues(data, table, changes) {
  const values = [...table.values];
  for (const [field, value] of Object.entries(changes)) {
    const place = data.rules.findIndex((rule) => rule.field === field);
    const rule = data.rules[place];
    if (!rule?.limits) throw new EngineError(`There is no rule '${field}' to override.`);
    const { least, most, step } = rule.limits;
    if (value < least || value > most || value % step) throw new EngineError(limitsOf(rule, value));
    values[place] = value;
  }
  return values;
}

function limitsOf({ field, choices, limits: { least, most, step } }, value) {
  const known = choices.map((meaning, number) => `${number} (${meaning})`).join(" or ");
  const numbers = `${least} to ${most}${step > 1 ? `, in steps of ${step}` : ""}`;
  return `The rule ${field} is ${value}: it may be ${known || numbers}.`;
}

/** Return the bytes of the rules record for kernels, from the values of all rules. */
export function recordOfRules(data, values) {
  const { size, fields } = data.records.rules;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const copies = [];
  data.rules.forEach(({ field, unit }, place) => {
    view.setInt8(fields.observed[0] + place, Math.min(Math.floor(values[place] / unit), data.constants.MAX_INT8));
    if (field in fields) view.setBigInt64(fields[field][0], BigInt(values[place]), true);
    else copies.push(values[place]);
  });
  copies.forEach((count, card) => view.setBigInt64(fields.deck[0] + 8 * card, BigInt(count), true));
  return bytes;
}

/** What is wrong with rules that `rules_problem` has found fault with, in words. */
export function problemWords(data, values, problem) {
  const said = Object.fromEntries(data.rules.map(({ field }, place) => [field, values[place]]));
  const copies = data.cards.map(({ name }) => said[`copies_of_${name}`]);
  const distances = data.cards.filter((card) => card.kind === "distance" && copies[card.id]);
  const cards = distances.map((card) => `${copies[card.id]} of ${card.km}`).join(", ") || "there are none";
  Object.assign(said, {
    size: copies.reduce((sum, count) => sum + count, 0),
    dealt: said.hand_limit * said.players,
    distance_cards: `${cards}; a team may lay ${said.max_200} of the 200s`,
    most_cards: data.sizes.deck,
    longest_trip: data.constants.LONGEST_TRIP,
  });
  return data.problems_of_rules[problem].replace(/\{(\w+)\}/g, (_, name) => said[name]);
}

/** Describe where a Roll may be played under these rules. */
export function whereRollGoes(data, values) {
  const [rules, words] = data.roll_goes;
  const set = rules.map((name, place) => values[data.rules.findIndex(({ field }) => field === name)] << place);
  return words[set.reduce((bits, bit) => bits | bit, 0)];
}
