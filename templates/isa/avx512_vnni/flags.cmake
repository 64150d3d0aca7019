# How to compile code that includes etch/vocab.h for x86-64 with AVX-512 VNNI.
# In packages its sources compile to nothing unless: defined(__AVX512VNNI__) && defined(__AVX512VL__) && defined(__AVX512BW__)
set(ETCH_ISA_FLAGS -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma)
