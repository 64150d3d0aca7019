// The submission: th_ functions over a network that Etch compiled with --name network. It has one
// input and one output. The host's bytes become the input as INPUT says: RAW, they are the tensor's
// bytes (keyword spotting: int8; anomaly detection: float32); MINUS_128, they are pixels from 0 to
// 255 for an int8 input.
#include <stdarg.h>
#include <string.h>

#include "board.h"
#include "network.h"
#ifdef MLPERF_TINY_API
#include "submitter_implemented.h"
size_t ee_get_buffer(uint8_t* buffer, size_t most);
#else
#include "th.h"
#endif

namespace {

alignas(network::kArenaAlignment) unsigned char arena[network::kArenaBytes];
alignas(4) uint8_t input[network::kInput0Bytes];
network::Output0 output[network::kOutput0Elements];

void send(const char* text) {
  for (; *text != '\0'; ++text) board_send(*text);
}

void send_number(unsigned long value, unsigned least_digits = 1) {
  char text[24];
  char* first = text + sizeof text - 1;
  *first = '\0';
  for (unsigned digits = 0; value != 0 || digits < least_digits; ++digits, value /= 10) {
    *--first = static_cast<char>('0' + value % 10);
  }
  send(first);
}

// With three decimals, as the host reads them. Answers of networks are far inside of 32 bits.
void send_real(double value) {
  if (value < 0) {
    board_send('-');
    value = -value;
  }
  const auto thousandths = static_cast<unsigned long>(value * 1000 + 0.5);
  send_number(thousandths / 1000);
  board_send('.');
  send_number(thousandths % 1000, 3);
}

void send_signed(long value) {
  if (value < 0) board_send('-');
  send_number(value < 0 ? 0UL - static_cast<unsigned long>(value)
                        : static_cast<unsigned long>(value));
}

}  // namespace

void th_serialport_initialize() { board_initialize(); }
void th_timestamp_initialize() { th_timestamp(); }
void th_final_initialize() {}
void th_pre() {}
void th_post() {}

void th_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (; *format != '\0'; ++format) {
    if (*format != '%') {
      board_send(*format);
      continue;
    }
    ++format;
    while ((*format >= '0' && *format <= '9') || *format == '.' || *format == 'l') ++format;
    switch (*format) {
      case 's':
        send(va_arg(arguments, const char*));
        break;
      case 'd':
        send_signed(va_arg(arguments, int));
        break;
      case 'u':
        send_number(va_arg(arguments, unsigned long));
        break;  // long is int here
      case 'f':
        send_real(va_arg(arguments, double));
        break;
      default:
        board_send(*format);
        break;
    }
  }
  va_end(arguments);
}

void th_timestamp() {
  th_printf("m-lap-us-%lu\r\n", static_cast<unsigned long>(board_microseconds()));
}

void th_load_tensor() {
  ee_get_buffer(input, sizeof input);
#ifdef INPUT_MINUS_128
  for (uint8_t& each : input) each = static_cast<uint8_t>(each ^ 0x80);  // the bits of each - 128
#endif
}

void th_infer() { network::run(reinterpret_cast<const network::Input0*>(input), output, arena); }

void th_results() {
  th_printf("m-results-[");
  for (size_t i = 0; i < network::kOutput0Elements; ++i) {
    th_printf(i == 0 ? "%0.3f" : ",%0.3f", static_cast<double>(output[i]));
  }
  th_printf("]\r\n");
}
