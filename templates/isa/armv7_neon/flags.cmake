# How to compile code that includes etch/vocab.h for 32-bit Arm with NEON.
set(ETCH_ISA_FLAGS -mfpu=neon)
