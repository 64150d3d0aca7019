// Convolutions for Arm cores with Helium: loops around the functions in assembly of
// compiler/kernels/conv/helium (portable: runtime/etch_mve.h), which multiply, requantize and store
// a tile of pixels with all channels. x is in memory with its padding, so there are no borders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/etch_mve.h"
#include "templates/external.h"
#include "templates/kernels/conv/conv_plan.h"
#include "templates/stage.h"

namespace etch {

struct MveConvPlan {
  std::vector<ConvLoop> axes;  // around all
  ConvRegion place;            // where pixels are; its taps are not used
  rt::MveTile tile{};          // except the last one of a row, which may be smaller
  std::vector<rt::MvePiece> pieces;
  rt::MveStore out{};
  rt::MveAdd add{};
  std::string whole, rest;        // functions for tiles, and for the last one of a row
  int rest_pixels = 0;            // 0: there is none
  std::int64_t stream_words = 0;  // per group
  std::int64_t reach = 0;         // bytes of x that are read from a pixel's first tap on
  // Operands; the residual is 1 if there is one. -1: the stream is a constant.
  int x = 0, y = 1, stream = -1;
};

namespace mve_detail {

template <class S>
struct Place {
  typename S::Index x{0}, y{0}, residual{0}, stream{0};
};

template <class S, class Out>
class Loops {
 public:
  using Index = typename S::Index;
  Loops(S& s, const MveConvPlan& plan) : s_(s), plan_(plan), region_(plan.place) {}

  void around(std::size_t axis, const Place<S>& at) {
    if (axis == plan_.axes.size()) {
      planes(at);
      return;
    }
    const ConvLoop& loop = plan_.axes[axis];
    s_.loop(loop.name, loop.count, [&](const Index& i) {
      Place<S> next = moved(at, i, loop.x_step, loop.y_step, loop.r_step);
      if (loop.is_group) next.stream = at.stream + i * plan_.stream_words;
      around(axis + 1, next);
    });
  }

 private:
  static Place<S> moved(const Place<S>& from, const Index& i, std::int64_t x, std::int64_t y,
                        std::int64_t residual) {
    return {from.x + i * x, from.y + i * y, from.residual + i * residual, from.stream};
  }

  void planes(const Place<S>& at) {
    const ConvRegion& r = region_;
    s_.loop("plane", r.planes, [&](const Index& plane) {
      const Place<S> above = moved(at, plane, r.x_plane, r.y_plane, r.r_plane);
      s_.loop("row", r.rows,
              [&](const Index& row) { tiles(moved(above, row, r.x_row, r.y_row, r.r_row)); });
    });
  }

  void tiles(const Place<S>& row) {
    const ConvRegion& r = region_;
    const int n = plan_.tile.pixels;
    s_.loop("tile", r.cols / n, [&](const Index& i) {
      one(moved(row, i, n * r.x_col, n * r.y_col, n * r.r_col), plan_.whole, n);
    });
    if (plan_.rest_pixels > 0) {
      one(moved(row, Index(r.cols / n * n), r.x_col, r.y_col, r.r_col), plan_.rest,
          plan_.rest_pixels);
    }
  }

  void one(const Place<S>& at, const std::string& function, int pixels) {
    const ConvRegion& r = region_;
    const auto x = s_.template operand<const std::uint8_t>(plan_.x) + at.x + Index(r.x_offset);
    const auto stream = (plan_.stream < 0 ? s_.template constant<const std::int32_t>("stream")
                                          : s_.template operand<const std::int32_t>(plan_.stream)) +
                        at.stream;
    const auto y = s_.template operand<Out>(plan_.y) + at.y + Index(r.y_offset);
    const AssemblyCall call(function, "etch_mve.h",
                            plan_.out.is_int32 ? FloatUse::kNone : FloatUse::kUsed);
    const auto native = [this, pixels](const std::uint8_t* from, const std::int32_t* factors,
                                       Out* to, const std::uint8_t* residual) {
      rt::MveTile tile = plan_.tile;
      tile.pixels = pixels;
      rt::mve_tile(from, factors, to, residual, tile, plan_.pieces.data(),
                   static_cast<int>(plan_.pieces.size()), plan_.out, plan_.add);
    };
    const std::int64_t read = (pixels - 1) * r.x_col + plan_.reach;
    const std::int64_t written =
        ((pixels - 1) * r.y_col + plan_.tile.channels) * static_cast<std::int64_t>(sizeof(Out));
    if (!plan_.add.is_there) {
      const auto without = [native](const std::uint8_t* from, const std::int32_t* factors,
                                    Out* to) { native(from, factors, to, nullptr); };
      s_.call(assembly_call(call, without, read, 4 * plan_.stream_words, written), x, stream, y);
      return;
    }
    const auto residual =
        s_.template operand<const std::uint8_t>(1) + at.residual + Index(r.r_offset);
    const std::int64_t added = (pixels - 1) * r.r_col + plan_.tile.channels + plan_.tile.block - 1;
    s_.call(assembly_call(call, native, read, 4 * plan_.stream_words, written, added), x, stream, y,
            residual);
  }

  S& s_;
  const MveConvPlan& plan_;
  const ConvRegion& region_;
};

}  // namespace mve_detail

// From a place of x and y on, for steps that do more than one convolution.
template <class S>
void mve_conv_kernel_at(S& s, const MveConvPlan& plan, const mve_detail::Place<S>& place) {
  if (plan.out.is_int32) {
    mve_detail::Loops<S, std::int32_t>(s, plan).around(0, place);
  } else {
    mve_detail::Loops<S, std::uint8_t>(s, plan).around(0, place);
  }
}

template <class S>
void mve_conv_kernel(S& s, const MveConvPlan& plan) {
  mve_conv_kernel_at(s, plan, {});
}

}  // namespace etch
