"""Mille Bornes: its part of `render`."""
