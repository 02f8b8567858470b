"""Matches between agents: deals, lineups, estimates, ratings and pictures."""
