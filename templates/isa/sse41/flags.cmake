# How to compile code that includes etch/vocab.h for x86-64 with SSE4.1.
# In packages its sources compile to nothing unless: defined(__SSE4_1__)
set(ETCH_ISA_FLAGS -msse4.1)
