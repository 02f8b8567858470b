// Lines of a position or a record: parsing and error messages.

import { EngineError } from "./wasm_kernels.js";

/** Split a text into the lines of the position and the lines of plays and result. */
export function partsOf(text, words) {
  if (typeof text !== "string") throw new EngineError("A position or a game is text.");
  const lines = [];
  text.replace(/^\ufeff/, "").split("\n").forEach((line, place) => {
    const said = line.split("#")[0].trim();
    if (said) lines.push({ number: place + 1, said });
  });
  const end = lines.findIndex((line) => line.said.toLowerCase() === `${words.plays}:`);
  const before = (end < 0 ? lines : lines.slice(0, end)).map(namedLine);
  return [before, end < 0 ? [] : lines.slice(end + 1)];
}

/** Parse a line `name: words`, and its name: `stream 0 at 12` has `place` 0 and `at` 12. */
export function namedLine({ number: at, said }) {
  const colon = said.indexOf(":");
  if (colon < 0) throw refused({ number: at, said }, "there is no colon; a line reads 'name: words', such as 'dealer: 1'");
  const name = said.slice(0, colon).toLowerCase().split(/\s+/).join(" ").trim();
  const found = name.match(/^([^0-9]*?)(?: *([0-9]{1,18}))?(?: +at +([0-9]{1,18}))?$/);
  if (!found) throw refused({ number: at, said }, "its name is not understood");
  return {
    number: at,
    said,
    name: found[1],
    place: found[2] === undefined ? null : Number(found[2]),
    at: found[3] === undefined ? null : Number(found[3]),
    words: said.slice(colon + 1).split(/\s+/).filter(Boolean).join(" "),
  };
}

/** Return the lines by name and number, such as `hand 0`. */
export function byKey(lines, names, table) {
  const found = {};
  for (const line of lines) {
    const counted = names[line.name];
    if (counted === undefined) throw refused(line, `there is no line '${line.name}'; the lines are ${Object.keys(names).join(", ")}`);
    const count = { seat: table.players, team: table.teams }[counted];
    if (count === undefined ? line.place !== null : line.place === null || line.place >= count) {
      throw refused(line, counted ? `it must name a ${counted} of the table, such as '${line.name} 0'` : "no number stands after its name");
    }
    if (!line.words) throw refused(line, "nothing follows the colon");
    const key = line.place === null ? line.name : `${line.name} ${line.place}`;
    if (found[key]) throw refused(line, `'${key}' is there already, in line ${found[key].number}`);
    found[key] = line;
  }
  return found;
}

/** The error that says what is wrong with a line. */
export function refused(line, complaint) {
  const said = line.said.length > 60 ? `${line.said.slice(0, 57)}...` : line.said;
  return new EngineError(`Line ${line.number}, '${said}': ${complaint}.`);
}

/** The words of a line, and what stands in parentheses after them. */
export function withoutRemark(line) {
  const [words, ...remark] = line.words.toLowerCase().split("(");
  if (remark.length && !remark.join("(").endsWith(")")) throw refused(line, "the parenthesis is not closed at the end of the line");
  return [words, remark.join("(").replace(/\)$/, "").trim()];
}

/** The whole number that a word of a line stands for. */
export function number(line, word, what, lowest, highest) {
  const value = /^[0-9]{1,18}$/.test(word) ? Number(word) : NaN;
  if (!(value >= lowest && value <= highest)) {
    throw refused(line, `${what} is '${word}'; it must be a whole number from ${lowest} to ${highest}`);
  }
  return value;
}

/** The cards of a list such as `3x25 2x roll stop`, in its order. */
export function cardsNamed(line, words, notation) {
  const found = [];
  let count = 0;
  const given = words.toLowerCase().replaceAll(",", " ").split(" ").filter(Boolean);
  if (given.length === 1 && given[0] === notation.words.nothing) return [];
  for (let word of given) {
    const several = word.match(/^([0-9]+)x(.*)$/);
    if (several) {
      count = number(line, several[1], "the number of cards", 1, notation.data.sizes.deck);
      word = several[2];
      if (!word) continue;
    }
    const card = notation.id[word];
    if (card === undefined) throw refused(line, `there is no card '${word}'; the cards are ${notation.cards.join(", ")}`);
    for (let copy = 0; copy < (count || 1); copy++) found.push(card);
    count = 0;
  }
  if (count) throw refused(line, `a card must follow ${count}x`);
  return found;
}
