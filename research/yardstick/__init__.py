"""How far learners come from an equilibrium: what is run, and how it is judged."""
