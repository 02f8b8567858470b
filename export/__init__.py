"""Export of the compiled kernels from Numba, used when a wheel or the page's engine is built.

`module` makes one LLVM module, `platforms` a shared object of it, `build` the files of a wheel, and `wasm`
those of the page. `backend` and `hatch_build` are called by the build tool.
"""
