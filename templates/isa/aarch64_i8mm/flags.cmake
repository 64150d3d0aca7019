# How to compile code that includes etch/vocab.h for 64-bit Arm with I8MM.
set(ETCH_ISA_FLAGS -march=armv8.2-a+dotprod+i8mm)
