// Runs the digits network that Etch compiled on the held-out digits: draws the first few with the
// network's opinion, measures one inference and compares every output with what ONNX Runtime
// answered, bit for bit. Usage: digits_demo heldout.bin. Exit code 0 only if all outputs are equal.
// train.py describes the file.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "digits.h"

namespace {

constexpr std::size_t kSide = 8;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::size_t kClasses = 10;
constexpr std::size_t kRecordBytes = 1 + kPixels + kClasses * sizeof(float);
constexpr std::size_t kDrawn = 5;

using Image = std::array<float, kPixels>;
using Logits = std::array<float, kClasses>;

struct Digit {
  std::size_t label;  // 0..9
  Image image;        // row by row, 0 (paper) to 1 (ink)
  Logits golden;      // ONNX Runtime's answer
};

// The network's only memory besides its constants: it may be reused for other things between two
// calls.
alignas(digits::kArenaAlignment) std::byte arena[digits::kArenaBytes];

Logits infer(const Image& image) {
  Logits logits{};
  digits::run(image.data(), logits.data(), arena);
  return logits;
}

// All digits of the file; none if it cannot be read or has another size than whole records.
std::vector<Digit> read_digits(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<Digit> all;
  if (bytes.size() % kRecordBytes != 0) return all;
  for (const char* record = bytes.data(); record != bytes.data() + bytes.size();
       record += kRecordBytes) {
    Digit digit{static_cast<std::size_t>(record[0]), {}, {}};
    std::transform(record + 1, record + 1 + kPixels, digit.image.begin(),
                   [](char level) { return static_cast<float>(level) / 16.0F; });
    std::memcpy(digit.golden.data(), record + 1 + kPixels, sizeof(Logits));
    all.push_back(digit);
  }
  return all;
}

std::size_t best(const Logits& logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

Logits softmax(const Logits& logits) {
  Logits result{};
  float sum = 0;
  for (std::size_t i = 0; i < kClasses; ++i)
    sum += result[i] = std::exp(logits[i] - logits[best(logits)]);
  for (float& probability : result) probability /= sum;
  return result;
}

// The picture in shades of ink; beside row r the r-th most probable digit.
void draw(const Digit& digit) {
  const Logits probabilities = softmax(infer(digit.image));
  std::array<std::size_t, kClasses> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return probabilities[a] > probabilities[b];
  });
  for (std::size_t row = 0; row < kSide; ++row) {
    std::printf("    ");
    for (std::size_t column = 0; column < kSide; ++column) {
      const auto shade = static_cast<std::size_t>(digit.image[row * kSide + column] * 9.0F);
      std::printf("%c%c", " .:-=+*#%@"[shade], " .:-=+*#%@"[shade]);
    }
    if (row == 0) {
      std::printf("   true label %zu, predicted %zu%s", digit.label, order[0],
                  order[0] == digit.label ? "" : "  (wrong)");
    } else if (row >= 2 && row < 5) {
      const std::size_t candidate = order[row - 2];
      const double share = static_cast<double>(probabilities[candidate]);
      std::printf("   %zu %6.2f %% ", candidate, 100 * share);
      for (int i = 0; i < static_cast<int>(share * 40 + 0.5); ++i) std::putchar('#');
    }
    std::putchar('\n');
  }
  std::putchar('\n');
}

// Median time of one inference in microseconds: a batch of calls is long enough for the clock, the
// median of several batches ignores interruptions.
double median_microseconds(const std::vector<Digit>& all) {
  constexpr std::size_t kBatches = 51;
  [[maybe_unused]] volatile float sink = 0;  // keeps the calls when the whole program is optimised
  std::array<double, kBatches> times{};
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Digit& digit : all) sink = infer(digit.image)[0];
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - begin;
    time = elapsed.count() / static_cast<double>(all.size());
  }
  std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
  return times[kBatches / 2];
}

// Prints accuracy and agreement over all digits; true if every output has the golden's bits.
bool judge(const std::vector<Digit>& all) {
  std::size_t correct = 0;
  std::size_t exact = 0;
  for (const Digit& digit : all) {
    const Logits logits = infer(digit.image);
    if (best(logits) == digit.label) ++correct;
    if (std::memcmp(logits.data(), digit.golden.data(), sizeof(Logits)) == 0) ++exact;
  }
  std::printf("  accuracy: %.2f %% (%zu of %zu held-out digits)\n",
              100.0 * static_cast<double>(correct) / static_cast<double>(all.size()), correct,
              all.size());
  std::printf("  equal to ONNX Runtime, bit for bit: %zu of %zu%s\n", exact, all.size(),
              exact == all.size() ? "" : "  MISMATCH");
  return exact == all.size();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Digit> all = argc == 2 ? read_digits(argv[1]) : std::vector<Digit>{};
  if (all.empty()) {
    std::fprintf(stderr, "usage: digits_demo heldout.bin\n");
    return 1;
  }
  for (std::size_t i = 0; i < std::min(kDrawn, all.size()); ++i) draw(all[i]);
  std::printf("  time per inference: %.2f us (one thread, median)\n", median_microseconds(all));
  std::printf("  arena: %zu bytes of RAM   flash: %zu bytes   work: %llu multiply-adds\n",
              static_cast<std::size_t>(digits::kArenaBytes),
              static_cast<std::size_t>(digits::kFlashBytes),
              static_cast<unsigned long long>(digits::kMacs));
  return judge(all) ? 0 : 4;
}
