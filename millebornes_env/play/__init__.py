"""Play by humans and language models: terminal, browser, studies, text."""
