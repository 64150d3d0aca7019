# How to compile code that includes etch/vocab.h for Arm Cortex-R5: the assembly of its products is Thumb code.
set(ETCH_ISA_FLAGS -mthumb)
