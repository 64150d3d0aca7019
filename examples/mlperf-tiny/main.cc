// Starts the harness and gives it what arrives on the serial line, without end.
#include "board.h"
#ifdef MLPERF_TINY_API
#include "internally_implemented.h"
#else
#include "th.h"
#endif

int main() {
  ee_main();
  for (;;) {
    char character;
    if (board_receive(&character)) ee_serial_callback(character);
  }
}
