# How to compile code that includes etch/vocab.h for x86-64 with SSE4.1.
set(ETCH_ISA_FLAGS -msse4.1)
