"""The documentation site: `make site` writes it into build/site."""
