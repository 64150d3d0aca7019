// The two devices that the benchmark needs, as QEMU's mps2 boards have them: a serial port and a
// timer. For your board: four functions.
#pragma once

#include <stdint.h>

void board_initialize();
void board_send(char character);
bool board_receive(char* character);  // false: nothing has arrived
uint32_t board_microseconds();        // since board_initialize(); wraps after 171 s
