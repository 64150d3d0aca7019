// From a block's sums in general registers to bytes or int32 in memory, for Helium: the 8 sums
// become two vectors. What their lanes are depends on the block: of 2 channels, lane l of vector v
// is pixel l of channel v; of 4, channel l of pixel v; of 8, channel 2l + v. So narrowing one
// vector into the even and the other into the odd halfwords leaves neighbours side by side.
#pragma once

#include <string>

#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

class MveEpilogue {
 public:
  // On the stack: y and where the stream ends if there are no registers for them, the residual.
  static constexpr int kY = 0, kEnd = 4, kResidual = 8, kRatioA = 12, kRatioB = 16, kFixed = 20,
                       kFrame = 24;
  static constexpr const char* kYRegister = "r9";

  MveEpilogue(const MveConv& conv, bool y_in_register);
  // One channel at a time of 1 or 2 rows, `y_row` elements of y apart: lane l of vector v is pixel
  // l of row v, whose sums come one row after the other. There are no sums of pixels.
  // With `record` bytes of the stream for each channel instead: four channels of one pixel, lane l
  // is channel l, and the factors end the records.
  MveEpilogue(const MveConv& conv, int rows, std::int64_t y_row, int record = 0);

  // Vectors q0 .. that are free for the products.
  int work_registers() const { return free_; }
  void describe(Thumb& t) const;         // vectors, as a comment
  void load_constants(Thumb& t) const;   // spoils r0
  void keep_pixel_sums(Thumb& t) const;  // from r0, r2, ...
  void finish(Thumb& t, int n) const;    // n channels; y and the residual move on

 private:
  void take_limits();
  bool by_pixels() const { return conv_.tile.block == 2 && record_ == 0; }  // lanes are pixels
  int take() { return --free_; }
  void gather_lanes(Thumb& t, int n, int vector) const;
  void add_bias(Thumb& t, int n) const;
  void scale(Thumb& t, int n) const;
  void load_factors(Thumb& t, int vector) const;
  void narrow(Thumb& t, int zero_point, int low, int high, bool second, bool widens) const;
  void add_residual(Thumb& t, int n) const;
  void store_bytes(Thumb& t, int n) const;
  void store_int32(Thumb& t, int n) const;
  void predicate(Thumb& t, unsigned lanes, int bits) const;
  std::string splat(Thumb& t, int value, int kept, const char* q) const;
  int vectors(int n) const { return rows_ > 0 ? rows_ : by_pixels() ? n : 2; }
  int vector_step(std::int64_t pixel, std::int64_t channel) const;
  std::string y(Thumb& t) const;

  const MveConv& conv_;
  bool y_in_register_;
  int rows_ = 0;  // 0: lanes are as the block says
  std::int64_t y_row_ = 0;
  int record_ = 0;  // 0: lanes are pixels
  int free_ = 8;
  // Numbers of vectors that hold constants, or -1.
  int sums_[2] = {-1, -1};
  int places_ = -1, residual_places_ = -1, records_ = -1, zero_point_ = -1, low_ = -1, high_ = -1;
};

}  // namespace etch
