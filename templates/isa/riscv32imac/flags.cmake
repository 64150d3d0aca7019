# How to compile code that includes etch/vocab.h for 32-bit RISC-V: nothing but what the CPU and its ABI need anyway.
set(ETCH_ISA_FLAGS)
