// What requantization of a convolution or a product starts from, channel by channel: the float
// factor and the accumulators that can occur. Steps keep it only where they use integers; evidence
// states it for all.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

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

// Of all steps that were made while it observed (compiler/base/observation.h), also of those that
// the schedule has dropped again.
class CertificateLog {
 public:
  // A new step may be where one was that the schedule has dropped.
  void forget(const Step& step) { certificates_.erase(&step); }
  void add(const Step& step, StepCertificate certificate) {
    certificates_.insert_or_assign(&step, std::move(certificate));
  }
  const StepCertificate* find(const Step& step) const {
    const auto found = certificates_.find(&step);
    return found == certificates_.end() ? nullptr : &found->second;
  }

 private:
  std::map<const Step*, StepCertificate> certificates_;
};

}  // namespace etch
