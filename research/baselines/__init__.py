"""Distance of learners from an equilibrium: the plan of runs, and their evaluation."""
