// What the arithmetic of a step starts from, for evidence: of a convolution or a product the float
// factor and the accumulators of each channel, of 16 bits the exact factors, of pools their
// windows, of tables their entries. Steps keep it only where their code needs it; evidence states
// it for all.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/observation.h"
#include "compiler/ir/dtype.h"
#include "compiler/ir/geometry/pooling.h"
#include "compiler/ir/kept_channels.h"
#include "compiler/program/requantize/channel.h"
#include "compiler/program/step.h"
#include "templates/kernels/quantize/requantize.h"

namespace etch {

struct ChannelCertificate {
  float scale = 1;                   // fl(fl(x * w) / y), or as the operator says
  std::int64_t least = 0, most = 0;  // the accumulators that can occur, before they wrap
};

struct StepCertificate {
  Requantize out;         // kInt32: channels have no scale
  int x_zero_point = 0;   // as stored (uint8)
  bool residual = false;  // another tensor is added to the result, whose limits these are not
  std::vector<ChannelCertificate> channels;
};

// Results of 16 bits, in their own type.
struct WordResult {
  int zero_point = 0, low = 0, high = 0;
};

// An output channel of a 16-bit product (docs/spec/products.md section 5.10):
//   y = rne(acc * factor / 2^exponent + rest / 2^(exponent - 31)), limited
struct WordChannelCertificate {
  std::int64_t least = 0, most = 0;  // the accumulators that can occur
  std::int64_t factor = 0;           // in [2^59, 2^60)
  int exponent = 0;
  std::int32_t rest = 0;  // of the bias
};
struct WordProductCertificate {
  int x_zero_point = 0;
  WordResult out;
  std::int64_t part = 0;  // terms of each part of a sum that fits in int32; 0: whole sums do
  std::vector<WordChannelCertificate> channels;
};

// Sums of 16 bits (section 5.11): a scale is part / unit of the result's, exactly; the first guess
// takes `factor` / 2^bits for it.
struct WordTermCertificate {
  int zero_point = 0;
  std::uint64_t part = 0;
  std::int32_t factor = 0;
};
struct WordSumCertificate {
  std::vector<WordTermCertificate> terms;
  std::uint64_t unit = 1;
  int bits = 0;
  WordResult out;
};
// A sum of `depth` products of two 16-bit values (section 5.11), which 64 bits hold:
//   y = rne(sum * factor / 2^exponent), limited
struct WordPairCertificate {
  int a_zero_point = 0, b_zero_point = 0;
  std::int64_t depth = 1;
  std::int64_t least = 0, most = 0;  // the sums of any values of their type
  std::int64_t factor = 0;           // in [2^59, 2^60)
  int exponent = 0;
  WordResult out;
};

// A function of single bytes: entry i is for the value whose bits are i.
struct TableCertificate {
  std::string input;  // name of the tensor
  DType from = DType::kU8, to = DType::kU8;
  std::array<std::uint8_t, 256> entries{};
};

// A function of 16 bits, in the form of runtime/etch_word_table.h.
struct WordTableCertificate {
  std::string input;         // name of the tensor
  DType type = DType::kU16;  // of x and y
  int bits = 0, steps = 0, even = 0;
  std::vector<std::uint16_t> index;
  std::vector<std::int32_t> cubics;
};

// Windows of a pool of 8 bits, whose averages are made of floats (docs/spec/qlinear.md section
// 6.6), or of 16.
struct WindowCertificate {
  PoolGeometry geometry;
  bool averages = false;
  bool counts_padding = false;
  float x_scale = 1, y_scale = 1;          // of averages, as the two below
  int x_zero_point = 0, y_zero_point = 0;  // as stored (uint8)
};

// The mean of windows of 16 bits.
struct WordMeanCertificate {
  WindowCertificate windows;
  int x_zero_point = 0;
  std::uint64_t part = 0, unit = 1;
  int bits = 0;
  int least = 1;                      // elements of the smallest window
  std::vector<std::int32_t> factors;  // for `least` elements and each number after it
  WordResult out;
};

using ArithmeticCertificate =
    std::variant<StepCertificate, WordProductCertificate, WordSumCertificate, WordMeanCertificate,
                 WordPairCertificate, TableCertificate, WordTableCertificate, WindowCertificate>;

// Of all steps that were made while it observed (compiler/base/observation.h), also of those that
// the schedule has dropped again.
class CertificateLog {
 public:
  // A new step may be where one was that the schedule has dropped.
  void forget(const Step& step) { certificates_.erase(&step); }
  void add(const Step& step, ArithmeticCertificate certificate) {
    certificates_.insert_or_assign(&step, std::move(certificate));
  }
  const ArithmeticCertificate* find(const Step& step) const {
    const auto found = certificates_.find(&step);
    return found == certificates_.end() ? nullptr : &found->second;
  }

 private:
  std::map<const Step*, ArithmeticCertificate> certificates_;
};

// Tells who listens, if anybody does, what `make` gives for a step that lowering has taken.
template <class Make>
void certify(const Step& step, Make make) {
  if (CertificateLog* const log = Observation<CertificateLog>::current()) log->add(step, make());
}

}  // namespace etch
