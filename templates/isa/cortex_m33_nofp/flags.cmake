# How to compile code that includes etch/vocab.h for Arm Cortex-M33 without FPU: nothing but what the CPU and its ABI need anyway.
set(ETCH_ISA_FLAGS)
