"""The games: registry, rule sheets, and a folder with the rulebook of each."""
