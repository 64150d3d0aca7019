// The intrinsics of Helium, the vectors of Arm's M profile: the one place that includes them.
// ETCH_HELIUM says that they are there. Not in etch_intrinsics.h, which other code for these cores
// reads, too: arm_mve.h is long. C++17, freestanding.
#pragma once

#if defined(__ARM_FEATURE_MVE) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_mve.h>
#define ETCH_HELIUM 1
#endif
