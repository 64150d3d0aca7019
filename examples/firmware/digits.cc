// Classifies the 360 held-out digits of examples/digits and compares every output with what ONNX
// Runtime answered, bit for bit. Exit code 0 only if all are equal. train.py there describes the
// records: label, 64 pixels from 0 to 16, 10 float32.
#include "digits.h"

#include <string.h>

#include "semihosting.h"
#include "start.h"

extern "C" const unsigned char samples_begin[], samples_end[];

namespace {

using semihosting::print;

constexpr size_t kSide = 8;
constexpr size_t kPixels = kSide * kSide;
constexpr size_t kClasses = digits::kOutput0Elements;
constexpr size_t kRecordBytes = 1 + kPixels + digits::kOutput0Bytes;
static_assert(digits::kInput0Elements == kPixels && kClasses == 10, "another network");

// All the memory of the network but its constants. Other things may use it between two calls.
alignas(digits::kArenaAlignment) unsigned char arena[digits::kArenaBytes];
float image[kPixels];
float logits[kClasses];

uint32_t classify(const unsigned char* pixels) {
  for (size_t i = 0; i < kPixels; ++i) image[i] = static_cast<float>(pixels[i]) / 16.0F;
  digits::run(image, logits, arena);
  uint32_t best = 0;
  for (uint32_t i = 1; i < kClasses; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return best;
}

void draw(const unsigned char* pixels) {
  char line[2 * kSide + 2] = {};
  for (size_t row = 0; row < kSide; ++row) {
    for (size_t column = 0; column < kSide; ++column) {
      const char shade = " .:-=+*#%@"[pixels[row * kSide + column] * 9 / 16];
      line[2 * column] = line[2 * column + 1] = shade;
    }
    line[2 * kSide] = '\n';
    print(line);
  }
}

void print_memory() {
  print("arena ");
  print(static_cast<uint32_t>(sizeof arena));
  print(" bytes, most stack used ");
  print(most_stack_used());
  print(" of ");
  print(stack_size());
  print(" bytes\n");
}

}  // namespace

int main() {
  uint32_t all = 0;
  uint32_t correct = 0;
  uint32_t equal = 0;
  for (const unsigned char* record = samples_begin; record < samples_end; record += kRecordBytes) {
    const uint32_t label = record[0];
    const unsigned char* const pixels = record + 1;
    const uint32_t digit = classify(pixels);
    if (all == 0) {
      draw(pixels);
      print("this is a ");
      print(digit);
      print("\n");
    }
    ++all;
    if (digit == label) ++correct;
    if (memcmp(logits, pixels + kPixels, sizeof logits) == 0) ++equal;
  }
  print(correct);
  print(" of ");
  print(all);
  print(" digits right; equal to ONNX Runtime, bit for bit: ");
  print(equal);
  print(" of ");
  print(all);
  print("\n");
  print_memory();
  return all != 0 && equal == all ? 0 : 4;
}
