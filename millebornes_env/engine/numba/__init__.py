"""Compilation, its cache, machine code, threads and SIMD helpers: the only code that depends on Numba."""
