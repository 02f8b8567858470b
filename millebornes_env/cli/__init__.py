"""The commands of `python -m millebornes_env`, a file for each; `__main__.py` lists them."""
