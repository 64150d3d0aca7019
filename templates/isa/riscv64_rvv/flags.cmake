# How to compile code that includes etch/vocab.h for 64-bit RISC-V with vectors.
set(ETCH_ISA_FLAGS -march=rv64gcv)
