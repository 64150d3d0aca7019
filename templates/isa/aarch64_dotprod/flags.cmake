# How to compile code that includes etch/vocab.h for 64-bit Arm with dot products.
set(ETCH_ISA_FLAGS -march=armv8.2-a+dotprod)
