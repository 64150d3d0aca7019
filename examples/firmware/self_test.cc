// The same image for any network with one input and one output: runs it on the samples (records of
// input and expected output, which `run` makes of the test data beside the model) and compares bit
// for bit. Without samples it runs once on zeros, for the sizes.
#include <string.h>

#include "network.h"
#include "semihosting.h"
#include "start.h"

extern "C" const unsigned char samples_begin[], samples_end[];

namespace {

using semihosting::print;

constexpr size_t kRecordBytes = network::kInput0Bytes + network::kOutput0Bytes;

alignas(network::kArenaAlignment) unsigned char arena[network::kArenaBytes];
network::Input0 input[network::kInput0Elements];
network::Output0 output[network::kOutput0Elements];

}  // namespace

int main() {
  uint32_t all = 0;
  uint32_t equal = 0;
  for (const unsigned char* record = samples_begin; record < samples_end; record += kRecordBytes) {
    memcpy(input, record, sizeof input);
    network::run(input, output, arena);
    ++all;
    if (memcmp(output, record + sizeof input, sizeof output) == 0) ++equal;
  }
  if (all == 0) network::run(input, output, arena);
  print("equal to the expected outputs, bit for bit: ");
  print(equal);
  print(" of ");
  print(all);
  print("\narena ");
  print(static_cast<uint32_t>(sizeof arena));
  print(" bytes, most stack used ");
  print(most_stack_used());
  print(" of ");
  print(stack_size());
  print(" bytes\n");
  return equal == all ? 0 : 4;
}
