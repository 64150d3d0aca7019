# How to compile code that includes etch/vocab.h for 32-bit Arm with NEON.
# In packages its sources compile to nothing unless: defined(__arm__)
set(ETCH_ISA_FLAGS -mfpu=neon)
