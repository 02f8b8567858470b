// Saving a game: in the browser for a reload, and in a link for others.

export const STORE = "millebornes.game";
export const SETUP = "millebornes.setup";
export const THEME = "millebornes.theme";
const DRAFT = "millebornes.draft";
const MOST = 300_000; // size limit of a link's text, in letters

/** Keep a value in this browser; null: forget it. */
export const keep = (name, value, storage = "localStorage") => {
  try {
    if (value === null) window[storage].removeItem(name);
    else window[storage].setItem(name, JSON.stringify(value));
  } catch {
    // The storage is full or forbidden: the game is lost when the page is closed.
  }
};

export const kept = (name, storage = "localStorage") => {
  try {
    return JSON.parse(window[storage].getItem(name));
  } catch {
    return null;
  }
};

/** Keep unfinished input until the page is closed. */
export const keepDraft = (draft) => keep(DRAFT, draft, "sessionStorage");
export const keptDraft = () => kept(DRAFT, "sessionStorage");

/** Encode a text as the part of a link behind "#". */
export async function packed(text) {
  const bytes = new TextEncoder().encode(text);
  if (!("CompressionStream" in globalThis)) return `t=${base64(bytes)}`;
  return `z=${base64(await through(bytes, new CompressionStream("deflate-raw")))}`;
}

/** Decode such a part; null if it is something else.
 * @throws {Error} it is damaged. */
export async function unpacked(part) {
  const match = /^([tz])=(.*)$/.exec(part);
  if (!match) return null;
  try {
    const bytes = unbase64(match[2]);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(match[1] === "t" ? bytes : await through(bytes, new DecompressionStream("deflate-raw")));
    if (text.length > MOST) throw new Error("too long");
    return text;
  } catch {
    throw new Error("This link is damaged: part of it is missing or was changed. Ask for it again, or paste the record instead.");
  }
}

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function unbase64(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}
