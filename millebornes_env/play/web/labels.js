// Labels of rule sheets: a name with overrides ("parker+hand_limit=7").

const OVERRIDE = /^([a-z0-9_]+)=([0-9]{1,9})$/;

/**
 * Split a label into a sheet's name and its overrides.
 * @param {string} label
 * @param {string[]} names - of the known sheets, which may contain a "+".
 * @returns {{name: string, changes: Object, problem: string}} `changes`: numbers by rules; `problem`: error in
 *   the label or ""; `changes` then has the overrides before it.
 */
export function partsOfLabel(label, names = []) {
  const text = String(label);
  const fitting = names.filter((one) => text === one || text.startsWith(`${one}+`));
  const name = fitting.sort((one, other) => other.length - one.length)[0] ?? text.split("+")[0];
  const parts = text === name ? [] : text.slice(name.length + 1).split("+");
  const changes = Object.create(null); // a rule may be called anything
  for (const part of parts) {
    const match = OVERRIDE.exec(part);
    const problem = match
      ? match[1] in changes && `'${text.slice(0, 80)}' overrides a rule twice: '${match[1]}'.`
      : `'${part.slice(0, 40)}' overrides no rule: it must read name=number, such as max_200=4.`;
    if (problem) return { name, changes, problem };
    changes[match[1]] = Number(match[2]);
  }
  return { name, changes, problem: "" };
}

/** Return the label of a sheet with overrides, as Python writes it. */
export function labelOf(name, changes) {
  const rules = Object.keys(changes).sort();
  return [name, ...rules.map((rule) => `${rule}=${changes[rule]}`)].join("+");
}
