// The middle of the table and the sides of the teams, drawn from a position.

import { capital, listed, make, number } from "./elements.js";
import { cardPicture, filled, valuesOfSide } from "./filling.js";

/** Draw the table.
 * @param {HTMLElement} place the element to fill.
 * @param {Object} position from the engine.
 * @param {{names: Names, cards: Object[]}} shown
 * @param {(target: number|"discard") => void} choose called with the clicked target. */
export function drawBoard(place, position, shown, choose) {
  const first = shown.names.viewer === "all" ? 0 : shown.names.viewer % position.teams;
  const order = position.sides.map((_, number) => position.sides[(first + number) % position.teams]);
  place.replaceChildren(
    middle(position, shown, choose),
    make("div", { class: `sides of-${position.teams}` }, ...order.map((side) => drawSide(side, position, shown, choose))),
  );
}

function middle(position, shown, choose) {
  const trip = `${number(position.target)} km${position.extended ? " (extended)" : ""}`;
  const top = position.discard_top;
  const others = position.seats.filter((one) => one.seat !== shown.names.viewer);
  return make("div", { class: "middle" },
    make("div", { class: "pile", role: "img", "aria-label": `Draw pile: ${position.draw_pile} cards` },
      position.draw_pile ? cardPicture("back") : "empty", make("span", { class: "badge", text: position.draw_pile })),
    make("div", {
      class: "pile discard", role: "img", "data-target": "discard", click: () => choose("discard"),
      "aria-label": `Discard pile: ${top === null ? "empty" : shown.cards[top].title}`,
    }, top === null ? "discard" : cardPicture(top)),
    make("div", { class: "facts" },
      make("strong", { text: position.episode === "match" ? `Round ${position.round_number + 1}` : "One round" }),
      make("span", { text: `Trip: ${trip}` })),
    make("div", { class: "others" }, ...others.map((one) => hand(one, position, shown))));
}

/** The hand of another seat: card backs, or the cards if all hands are visible. */
function hand(one, position, shown) {
  const cards = one.hand ?? Array(one.hand_size).fill("back");
  const name = capital(shown.names.seat(one.seat));
  const words = one.hand === null ? `${one.hand_size} cards` : listed(one.hand.map((card) => shown.cards[card].title));
  const isActing = one.seat === position.to_act && position.asks === "play";
  return make("div", { class: `other${isActing ? " acting" : ""}`, "data-seat": one.seat },
    make("span", { text: name }),
    make("span", { class: `cards${one.hand ? " open" : ""}`, role: "img", "aria-label": `${name} holds ${words || "no cards"}` },
      ...cards.map(cardPicture)));
}

function drawSide(side, position, shown, choose) {
  const { names } = shown;
  const points = position.counts_points !== false && (position.round_number > 0 || position.over);
  const after = points ? ` · ${number(side.score)} points` : "";
  const name = capital(names.team(side.team));
  const hasWon = position.over && position.winners?.includes(side.team);
  const isActing = position.to_act !== null && position.to_act % position.teams === side.team && position.asks === "play";
  const element = make("div", {
    class: `team${isActing ? " acting" : ""}${hasWon ? " won" : ""}`, role: "group", "data-target": side.team,
    "aria-label": name + after, click: () => choose(side.team),
  }, filled("side.svg", valuesOfSide(side, position.target, name, after)));
  const picture = element.firstElementChild;
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", inWords(side, position.target, shown));
  return element;
}

/** Describe a team's side for screen readers. */
export function inWords(side, target, { cards, names }) {
  const title = (card) => cards[card].title;
  const distances = Object.entries(side.distances).map(([card, count]) => `${count} × ${title(card)}`);
  const safeties = side.safeties.map((one) => title(one.card) + (one.coup_fourre ? " (coup fourré)" : ""));
  const parts = [
    `${capital(names.team(side.team))}: ${side.km} of ${target} km`,
    side.can_drive ? "rolling" : "stopped",
    `battle pile ${side.battle.length ? title(side.battle.at(-1)) : "empty"}${side.cured ? ", cured by a safety" : ""}`,
    side.limited ? "limited to 50 km" : "no speed limit",
    `distance: ${listed(distances) || "none"}`,
    `safeties: ${listed(safeties) || "none"}`,
  ];
  return `${parts.join("; ")}.`;
}
