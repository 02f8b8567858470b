"""`search`, and `+search` behind another agent: what each play brings, found out by playing on."""
