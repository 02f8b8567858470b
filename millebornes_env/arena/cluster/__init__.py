"""Matches on a Ray cluster."""
