# How to compile code that includes etch/vocab.h for 64-bit Arm: nothing special.
# In packages its sources compile to nothing unless: defined(__aarch64__)
set(ETCH_ISA_FLAGS)
