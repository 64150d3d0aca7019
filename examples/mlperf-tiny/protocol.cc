// The host's side of the serial line as far as accuracy and performance runs need it, so that the
// example can be tried without the benchmark's harness. Commands end in '%', answers begin with
// "m-", errors with "e-", and "m-ready" follows each command.
//
//   name            profile           timestamp
//   db load BYTES   db HEXDIGITS...   what the next inference reads
//   infer N W       N inferences after W that do not count
//   results
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "th.h"

namespace {

constexpr size_t kBuffer = 1 << 17, kLine = 256;

uint8_t buffer[kBuffer];
size_t expected, loaded;
char line[kLine];
size_t length;

// The word at *text, which then is where the word ends.
char* next_word(char** text) {
  while (**text == ' ') ++*text;
  char* const word = *text;
  while (**text != ' ' && **text != '\0') ++*text;
  if (**text == ' ') *(*text)++ = '\0';
  return word;
}

unsigned number(const char* text) {
  unsigned value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + static_cast<unsigned>(*text - '0');
  return value;
}

int hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

void load(char* words) {
  const char* const word = next_word(&words);
  if (strcmp(word, "load") == 0) {
    expected = number(next_word(&words));
    loaded = 0;
    if (expected == 0 || expected > kBuffer) {
      th_printf("e-[db load takes 1 to %u bytes]\r\n", static_cast<unsigned long>(kBuffer));
      expected = 0;
    } else {
      th_printf("m-[Expecting %u bytes]\r\n", static_cast<unsigned long>(expected));
    }
    return;
  }
  for (const char* at = word; *at != '\0' && loaded < expected; at += 2) {
    const int high = hex(at[0]);
    const int low = high < 0 ? -1 : hex(at[1]);
    if (low < 0) {
      th_printf("e-[not a pair of hexadecimal digits]\r\n");
      return;
    }
    buffer[loaded++] = static_cast<uint8_t>(high * 16 + low);
    if (loaded == expected) th_printf("m-load-done\r\n");
  }
}

void infer(char* words) {
  const unsigned count = number(next_word(&words));
  const unsigned warmup = number(next_word(&words));
  th_load_tensor();
  th_printf("m-warmup-start-%d\r\n", static_cast<int>(warmup));
  for (unsigned i = 0; i < warmup; ++i) th_infer();
  th_printf("m-warmup-done\r\nm-infer-start-%d\r\n", static_cast<int>(count));
  th_timestamp();
  th_pre();
  for (unsigned i = 0; i < count; ++i) th_infer();
  th_post();
  th_timestamp();
  th_printf("m-infer-done\r\n");
  th_results();
}

void execute(char* words) {
  const char* const command = next_word(&words);
  if (strcmp(command, "name") == 0) {
    th_printf("m-name-dut-[etch]\r\n");
  } else if (strcmp(command, "profile") == 0) {
    th_printf("m-profile-[ULPMark for tinyML Firmware V0.0.1]\r\nm-model-[etch]\r\n");
  } else if (strcmp(command, "timestamp") == 0) {
    th_timestamp();
  } else if (strcmp(command, "db") == 0) {
    load(words);
  } else if (strcmp(command, "infer") == 0) {
    infer(words);
  } else if (strcmp(command, "results") == 0) {
    th_results();
  } else {
    th_printf("e-[unknown command '%s']\r\n", command);
  }
}

}  // namespace

size_t ee_get_buffer(uint8_t* out, size_t most) {
  const size_t count = loaded < most ? loaded : most;
  memcpy(out, buffer, count);
  return count;
}

void ee_serial_callback(char character) {
  if (character == '\r' || character == '\n') return;
  if (character != '%') {
    if (length < kLine - 1) line[length++] = character;
    return;
  }
  line[length] = '\0';
  length = 0;
  execute(line);
  th_printf("m-ready\r\n");
}

void ee_main() {
  th_serialport_initialize();
  th_timestamp_initialize();
  th_final_initialize();
  th_printf("m-init-done\r\nm-ready\r\n");
}
