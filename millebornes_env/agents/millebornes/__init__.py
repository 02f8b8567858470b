"""Mille Bornes: its part of `agents`."""
