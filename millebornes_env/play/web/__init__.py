"""The table in the browser: the page's files, and the engine that serves it from Python."""
