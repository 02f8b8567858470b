// Names of players and teams as one seat sees them, and the engine's messages with these names.

import { listed } from "./elements.js";

export const YOU = "you";
export const NOBODY = "nobody";

const MOST_LETTERS = 24;

/** Shorten the name of an agent: the name of `name@agent`, the last part of a path, at most MOST_LETTERS. */
export function shortName(text) {
  const name = /^([\w. +-]+)@/.exec(text)?.[1] ?? text.replace(/[\\/]+$/, "").replace(/[^:=,+]*[\\/]/g, "");
  return name.length <= MOST_LETTERS ? name : `${name.slice(0, 11)}…${name.slice(-12)}`;
}

export class Names {
  /** @param {string[]} seats the players of the seats: YOU, NOBODY or the name of an agent.
   * @param {number} teams
   * @param {Object} titles of agents, by name.
   * @param {number|string} viewer the viewing seat, or "all". */
  constructor(seats, teams, titles, viewer) {
    Object.assign(this, { seats, teams, titles, viewer });
  }

  /** The name of a player: "you", "Champion", "Champion 2", "seat 3". */
  seat(seat) {
    const who = this.seats[seat];
    const alike = this.seats.flatMap((other, place) => (other === who ? [place] : []));
    if (who === NOBODY) return `seat ${seat}`;
    const name = who === YOU ? YOU : shortName(this.titles[who] ?? who);
    if (who === YOU && (alike.length === 1 || seat === this.viewer)) return YOU;
    if (who === YOU) return `player ${seat}`;
    return alike.length === 1 ? name : `${name} ${alike.indexOf(seat) + 1}`;
  }

  members(team) {
    return this.seats.flatMap((_, seat) => (seat % this.teams === team ? [seat] : []));
  }

  isOwn(team) {
    return this.viewer !== "all" && this.viewer % this.teams === team;
  }

  /** The name of a team: its player's name, "your team", or the names of all. */
  team(team) {
    const members = this.members(team);
    if (members.length === 1) return this.seat(members[0]);
    return this.isOwn(team) ? "your team" : listed(members.map((seat) => this.seat(seat)));
  }

  isPlural(team) {
    const members = this.members(team);
    return members.length > 1 ? !this.isOwn(team) : this.seat(members[0]) === YOU;
  }

  /** Replace teams in the engine's messages by names: "team 0 is" becomes "you are", "team 1's" "Champion's". */
  said(text) {
    return text
      .replace(/\bteam (\d)( is| has|'s)?/g, (_, digit, after = "") => {
        const team = Number(digit);
        const name = this.team(team);
        if (after === "'s") return name === YOU ? "your" : name.endsWith("s") ? `${name}’` : `${name}’s`;
        if (this.isPlural(team)) after = { " is": " are", " has": " have" }[after] ?? after;
        return name + after;
      })
      .replace("the hand holds no", "you hold no");
  }
}
