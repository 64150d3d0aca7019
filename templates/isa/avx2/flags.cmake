# How to compile code that includes etch/vocab.h for x86-64 with AVX2, FMA and F16C.
# In packages its sources compile to nothing unless: defined(__AVX2__) && defined(__FMA__)
set(ETCH_ISA_FLAGS -mavx2 -mfma -mf16c)
