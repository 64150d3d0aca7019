# How to compile code that includes etch/vocab.h for WebAssembly with SIMD.
set(ETCH_ISA_FLAGS -msimd128)
