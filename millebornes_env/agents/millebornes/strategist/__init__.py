"""`strategist`: the weighing of plays, and when it calls an extension."""
