# How to compile code that includes etch/vocab.h for s390x: nothing special.
set(ETCH_ISA_FLAGS)
