"""Variance reduction: AIVAT and the networks that value luck."""
