// Labels of rule sheets: the name of one, and what is overridden of it ("parker+hand_limit=7").

const OVERRIDE = /^([a-z0-9_]+)=([0-9]{1,9})$/;

/**
 * A label as a sheet's name and what it overrides.
 * @param {string} label
 * @param {string[]} names - of sheets that there are: one may have a "+" in it.
 * @returns {{name: string, changes: Object, problem: string}} `changes`: numbers by rules; `problem`: what is wrong with
 *   the label ("": nothing), whose `changes` are then those up to there.
 */
export function partsOfLabel(label, names = []) {
  const text = String(label);
  const fitting = names.filter((one) => text === one || text.startsWith(`${one}+`));
  const name = fitting.sort((one, other) => other.length - one.length)[0] ?? text.split("+")[0];
  const parts = text === name ? [] : text.slice(name.length + 1).split("+");
  const changes = Object.create(null); // a rule may be called anything
  for (const part of parts) {
    const found = OVERRIDE.exec(part);
    const problem = found
      ? found[1] in changes && `'${text.slice(0, 80)}' overrides a rule twice: '${found[1]}'.`
      : `'${part.slice(0, 40)}' overrides no rule: it must read name=number, such as max_200=4.`;
    if (problem) return { name, changes, problem };
    changes[found[1]] = Number(found[2]);
  }
  return { name, changes, problem: "" };
}

/** The label of a sheet with rules overridden, as Python's `label_of` writes it. */
export function labelOf(name, changes) {
  const rules = Object.keys(changes).sort();
  return [name, ...rules.map((rule) => `${rule}=${changes[rule]}`)].join("+");
}
