"""Runs a rulebook over N games at once on CPU threads; knows no rule, but asks (`rulebook.Rulebook`)."""
