"""Play with people and with language models: terminal, browser, studies, text."""
