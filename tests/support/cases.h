// Small models with random data for the tests that compare engines: one operator each, or short
// networks. Everything follows from an index or a seed, so a failing case can be made again.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/float_steps.h"
#include "compiler/ir/tensor.h"

namespace etch {

// Random numbers that are the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // Uniform in [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto range = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(engine_() % range);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

// Elements of an 8-bit type over its whole range, or of a smaller one.
Tensor random_bytes(Dice& dice, DType type, Shape shape);
Tensor random_bytes(Dice& dice, DType type, Shape shape, int least, int most);

struct Case {
  std::string name;  // says what is in it; unique
  std::string model;
  std::vector<Tensor> inputs;
  FloatSteps float_steps = FloatSteps::kSeparate;
};

// What a convolution is made of. Sizes are per spatial axis.
struct ConvShape {
  enum class Kind { kQLinearConv, kTransposed, kConvInteger };
  Kind kind = Kind::kQLinearConv;
  // What the model gets as inputs rather than as constants.
  enum class AtRunTime { kOnlyX, kZeroPointOfX, kEverything };
  AtRunTime at_run_time = AtRunTime::kOnlyX;
  bool channels_last = false;  // QLinearConv of com.microsoft; transposed ones always are
  std::int64_t batch = 1, group = 1, in_per_group = 1, out_per_group = 1;
  std::vector<std::int64_t> in, kernel, stride, dilation, pad_begin, pad_end, output_padding;
  std::string auto_pad;  // empty: pads
};

// How large the accumulators are when they are scaled.
enum class Scaling {
  kTypical,     // outputs spread over the whole range
  kTies,        // by a power of two
  kSaturating,  // nearly all outputs at an end of the range
  kHuge,        // scaled accumulators leave int32
  kWrapping,    // the accumulator itself does
  kTiny         // all outputs are the zero point
};

// Everything else (types, zero points, what is per channel, bias, data) is drawn with `dice`.
Case conv_case(const ConvShape& shape, Scaling scaling, std::string name, Dice& dice);

// Every combination of kernel <= 3, stride <= 2, dilation <= 2 and pads <= 2 on one axis with
// every split of up to 5 channels into groups. `every`: only each `every`-th of them.
std::vector<Case> small_line_convolutions(int every);
// The same for each of two axes; channels, which there are too many of, are drawn.
std::vector<Case> small_plane_convolutions(int every);
std::vector<Case> small_volume_convolutions(int count);
std::vector<Case> small_transposed_convolutions(int count);
std::vector<Case> integer_convolutions(int count);  // ConvInteger
// Few of whose weights, less their zero point, exceed int8.
std::vector<Case> nearly_narrow_convolutions(int count);
// Of all three operators, with zero points, scales, weights that are known at run time only.
std::vector<Case> run_time_convolutions(int count);
// No output position of these reads any input: cropped to a gap, or beyond every halo.
std::vector<Case> convolutions_of_padding();

// Up to about 100 channels and 20 pixels: remainders of tiles and blocks, depthwise, wide halos.
std::vector<Case> larger_convolutions(int count);
// Convolutions, sums and pools in a row: what buffers share and where they overlap.
std::vector<Case> small_networks(int count);

// The other operators that can be compiled, `count` of each.
std::vector<Case> other_operators(int count);

}  // namespace etch
