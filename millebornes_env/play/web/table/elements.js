// Small helpers for elements of the page; text is always text, never markup.

/** An element with properties and children.
 * @param {string} tag
 * @param {Object} properties attributes; functions are listeners ("click"), "text" is its text.
 * @param {...(Node|string|null)} children */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An element of SVG with attributes and children. */
export function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const find = (id) => document.getElementById(id);

/** Join words: "a", "a and b", "a, b and c". */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Format a number: "1,200". */
export const number = (value) => value.toLocaleString("en");

/** Format a number with its sign: "+120", "−35". */
export const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + number(Math.abs(Math.round(value)));
