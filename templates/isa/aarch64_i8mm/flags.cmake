# How to compile code that includes etch/vocab.h for 64-bit Arm with I8MM.
# In packages its sources compile to nothing unless: defined(__ARM_FEATURE_MATMUL_INT8)
set(ETCH_ISA_FLAGS -march=armv8.2-a+dotprod+i8mm)
