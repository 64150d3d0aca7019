// What evidence says of global averages; their results are compared by tests/engines.
#include "compiler/kernels/pool/plane_average.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

TEST(PlaneCertificates, TheSumGoesFromAllZeroToAll255LessTheZeroPoint) {
  PoolPlan plan;
  plan.x_zero_point = 10;
  plan.scale = 0.5F;
  const StepCertificate certificate = plane_certificate(plan, 4);
  ASSERT_EQ(certificate.channels.size(), 1U);
  EXPECT_EQ(certificate.channels[0].least, -40);
  EXPECT_EQ(certificate.channels[0].most, 980);
  EXPECT_EQ(certificate.channels[0].scale, 0.5F);
  EXPECT_EQ(certificate.x_zero_point, 10);
}

}  // namespace
}  // namespace etch
