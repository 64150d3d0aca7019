# How to compile code that includes etch/vocab.h for any machine: nothing special.
set(ETCH_ISA_FLAGS)
