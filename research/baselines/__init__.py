"""Baselines of `research.exploitability`: the plan, the methods and their exact evaluation."""
