# How to compile code that includes etch/vocab.h for 64-bit RISC-V: nothing special.
set(ETCH_ISA_FLAGS)
