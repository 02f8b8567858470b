"""Who plays better: lineups, deals, estimates, ratings and pictures."""
