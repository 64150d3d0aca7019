// Steps for global averages where channels are one after the other in memory
// (templates/kernels/pool/plane_average.h).
#pragma once

#include <cstdint>

#include "compiler/lower/lowering.h"
#include "compiler/program/certificate.h"
#include "templates/kernels/pool/pool.h"

namespace etch {

// Lowers a global average whose input has its channels one after the other, where vectors add
// neighbouring bytes; false where channels last are better, and nothing is done. `plan` holds the
// arithmetic.
bool add_plane_average(Lowering& lowering, const Node& node, const PoolPlan& plan);

// What evidence says of an average over `pixels` positions: it is requantized as one channel.
StepCertificate plane_certificate(const PoolPlan& plan, std::int64_t pixels);

}  // namespace etch
