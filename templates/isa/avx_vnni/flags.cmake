# How to compile code that includes etch/vocab.h for x86-64 with AVX-VNNI.
set(ETCH_ISA_FLAGS -mavx2 -mfma -mavxvnni)
