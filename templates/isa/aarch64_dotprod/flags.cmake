# How to compile code that includes etch/vocab.h for 64-bit Arm with dot products.
# In packages its sources compile to nothing unless: defined(__ARM_FEATURE_DOTPROD)
set(ETCH_ISA_FLAGS -march=armv8.2-a+dotprod)
