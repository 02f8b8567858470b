"""Takes the compiled kernels out of Numba: `module` makes one LLVM module, `platforms` a shared object of it.

Used when a wheel is built: `backend` and `hatch_build` are what the build tool calls, `build` makes the
files.
"""
