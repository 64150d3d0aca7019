// Serial port and timer of Arm's CMSDK, which the MPS2 boards are made of.
#include "board.h"

namespace {

constexpr uint32_t kClockMhz = 25;

struct Uart {
  volatile uint32_t data, state, control, interrupt, divider;
};
struct Timer {
  volatile uint32_t control, value, reload;
};

Uart* const uart = reinterpret_cast<Uart*>(0x40004000);
Timer* const timer = reinterpret_cast<Timer*>(0x40000000);

constexpr uint32_t kSendFull = 1, kReceiveFull = 2;  // bits of Uart::state

}  // namespace

void board_initialize() {
  uart->divider = kClockMhz * 1000000 / 115200;
  uart->control = 3;  // send and receive
  timer->reload = 0xFFFFFFFF;
  timer->value = 0xFFFFFFFF;
  timer->control = 1;
}

void board_send(char character) {
  while ((uart->state & kSendFull) != 0) {
  }
  uart->data = static_cast<unsigned char>(character);
}

bool board_receive(char* character) {
  if ((uart->state & kReceiveFull) == 0) return false;
  *character = static_cast<char>(uart->data);
  return true;
}

uint32_t board_microseconds() { return (0xFFFFFFFF - timer->value) / kClockMhz; }
