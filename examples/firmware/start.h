// What start.cc offers to the program besides calling its main().
#pragma once

#include <stdint.h>

// The most bytes of stack that were in use at any time since the reset.
uint32_t most_stack_used();
uint32_t stack_size();
