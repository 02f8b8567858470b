"""Runs the rulebook over N games at once on CPU threads; knows no rule."""
