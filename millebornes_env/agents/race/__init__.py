"""The agents of the cycling race: `saver`, `escaper` and `bidder`; the other files are what they share."""
