"""The agents of the cycling race: `saver`, `escaper` and `bidder`; `questions` and `laps` are what they share."""
