"""Runs any rulebook (`rulebook.Rulebook`) over N games at once on CPU threads; contains no rules."""
