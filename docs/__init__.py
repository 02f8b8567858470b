"""The documentation: its pages, and the scripts that write and build them."""
