"""The commands of `python -m millebornes_env`, one file for each; `__main__.py` lists them."""
