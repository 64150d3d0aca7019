# How to compile code that includes etch/vocab.h for WebAssembly with SIMD.
# In packages its sources compile to nothing unless: defined(__wasm__)
set(ETCH_ISA_FLAGS -msimd128)
