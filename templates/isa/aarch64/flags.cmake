# How to compile code that includes etch/vocab.h for 64-bit Arm: nothing special.
set(ETCH_ISA_FLAGS)
