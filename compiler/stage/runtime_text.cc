// Texts of the runtime's structs; see runtime_text.h.
#include "compiler/stage/runtime_text.h"

#include "compiler/base/text.h"
#include "runtime/etch_antialias.h"
#include "runtime/etch_float_products.h"
#include "runtime/etch_matmul.h"
#include "runtime/etch_move.h"
#include "runtime/etch_mve_columns.h"
#include "runtime/etch_normalize.h"
#include "runtime/etch_packed_integers.h"
#include "runtime/etch_packed_weights.h"
#include "runtime/etch_products.h"
#include "runtime/etch_recurrent.h"
#include "runtime/etch_reduce.h"
#include "runtime/etch_resize.h"

namespace etch {
namespace rt {

namespace {
std::string text_of(const ConvAxis& a) {
  return cat("{", a.in, " /* in */, ", a.kernel, " /* kernel */, ", a.out, " /* out */, ", a.stride,
             " /* stride */, ", a.dilation, " /* dilation */, ", a.pad, " /* pad */, ", a.x_step,
             ", ", a.w_step, ", ", a.y_step, "}");
}

std::string texts_of(const ConvAxis (&axes)[3]) {
  return cat("{", text_of(axes[0]), ", ", text_of(axes[1]), ", ", text_of(axes[2]), "}");
}

std::string braced(const Stored& stored) { return cat("{", stored.flip, ", ", stored.offset, "}"); }
std::string braced(const Range& range) { return cat("{", range.low, ", ", range.high, "}"); }
}  // namespace

std::string text_of(const Stored& stored) { return cat("rt::Stored", braced(stored)); }
std::string text_of(const Range& range) { return cat("rt::Range", braced(range)); }

std::string text_of(const Reduced& r) {
  return cat("rt::Reduced{{", r.n[0], ", ", r.n[1], ", ", r.n[2], "}, {", r.step[0], ", ",
             r.step[1], ", ", r.step[2], "}, ", r.in_order ? "true" : "false", "}");
}

std::string text_of(const Requantized& r) {
  return cat("rt::Requantized{", braced(r.y), ", ", braced(r.y_zero), ", ", braced(r.range), ", ",
             r.scale_step, ", ", r.bias_step, "}");
}

std::string text_of(const ConvShape& s) {
  return cat("rt::ConvShape{", s.transposed ? "true" : "false", " /* transposed */, ", s.batch,
             " /* batch */, ", s.group, " /* groups */, ", s.in, " /* in */, ", s.out,
             " /* out */, ", s.x_image, ", ", s.x_channel, ", ", s.y_image, ", ", s.y_channel, ", ",
             s.w_group, ", ", s.w_in, ", ", s.w_out, ", ", texts_of(s.axis), ", ", braced(s.x),
             ", ", braced(s.x_zero), ", ", braced(s.w), ", ", braced(s.w_zero), ", ", s.w_zero_step,
             "}");
}

std::string text_of(const MatMulShape& s) {
  return cat("rt::MatMulShape{", s.rows, " /* rows */, ", s.depth, " /* depth */, ", s.cols,
             " /* cols */, ", s.a_row, ", ", s.a_depth, ", ", s.b_depth, ", ", s.b_col, ", ",
             s.y_row, ", ", s.y_col, ", ", braced(s.a), ", ", braced(s.a_zero), ", ", braced(s.b),
             ", ", braced(s.b_zero), ", ", s.a_zero_step, ", ", s.b_zero_step, "}");
}

namespace {
const char* name_of(PackedForm form) {
  if (form == PackedForm::kWords) return "kWords";
  return form == PackedForm::kSquares ? "kSquares" : "kBytes";
}
}  // namespace

std::string text_of(const MveColumns& s) {
  return cat("rt::MveColumns{", s.depth, " /* depth */, ", s.cols, " /* columns */, ", s.block,
             ", ", s.depth_step, ", ", s.col_step, ", ", s.scale_step, ", ", braced(s.b), ", ",
             s.a_zero, ", ", s.b_zero, "}");
}

std::string text_of(const PackedColumns& s) {
  return cat("rt::PackedColumns{", s.depth, " /* depth */, ", s.cols, " /* columns */, ", s.lanes,
             ", ", s.vectors, ", ", s.in_order ? "true" : "false",
             ", rt::PackedForm::", name_of(s.form), ", ", s.depth_step, ", ", s.col_step, ", ",
             braced(s.a), ", ", braced(s.a_zero), ", ", braced(s.b), ", ", braced(s.b_zero), "}");
}

std::string text_of(const RowTerms& s) {
  return cat("rt::RowTerms{", s.rows, " /* rows */, ", s.depth, " /* depth */, ", s.lanes, ", ",
             s.row_step, ", ", braced(s.a), ", ", braced(s.a_zero), ", ", braced(s.b), ", ",
             braced(s.b_zero), "}");
}

std::string text_of(const PoolShape& s) {
  return cat("rt::PoolShape{", s.batch, " /* batch */, ", s.channels, " /* channels */, ",
             s.x_image, ", ", s.x_channel, ", ", s.y_image, ", ", s.y_channel, ", ",
             texts_of(s.axis), ", {", s.pad_end[0], ", ", s.pad_end[1], ", ", s.pad_end[2], "}, ",
             s.count_padding, "}");
}

std::string text_of(const PackShape& s) {
  return cat("rt::PackShape{", s.group, " /* groups */, ", s.taps, " /* taps */, ", s.in,
             " /* in */, ", s.out, " /* out */, ", s.panel, ", ", s.group_step, ", ", s.tap_step,
             ", ", s.in_step, ", ", s.out_step, "}");
}

std::string text_of(const PackedIntegers& s) {
  return cat("rt::PackedIntegers{", s.rows, " /* rows */, ", s.depth, " /* depth */, ", s.cols,
             " /* columns */, ", s.block, " /* block */, ", s.zero_step, " /* zero points */, ",
             s.bias_step, " /* bias */}");
}

std::string text_of(const PackedProduct& s) {
  return cat("rt::PackedProduct{", s.rows, " /* rows */, ", s.depth, " /* depth */, ", s.cols,
             " /* cols */, ", s.block, " /* block */, ", s.part, ", ", s.panel, ", ", s.zero_step,
             ", ", s.bias_step, "}");
}

std::string text_of(const PackedTable& s) {
  return cat("rt::PackedTable{", s.size, " /* rows */, ", s.inner, " /* of elements */, ", s.block,
             " /* block */, ", s.row_bytes, ", ", s.row_scales, ", ", s.zero_step, "}");
}

std::string text_of(const FloatConvShape& s) {
  return cat("rt::FloatConvShape{", s.transposed ? "true" : "false", " /* transposed */, ", s.batch,
             " /* batch */, ", s.group, " /* groups */, ", s.in, " /* in */, ", s.out,
             " /* out */, ", s.x_image, ", ", s.x_channel, ", ", s.y_image, ", ", s.y_channel, ", ",
             texts_of(s.axis), ", ", s.along, " /* along */, ", s.panel, " /* panel */}");
}

std::string text_of(const FloatEnd& end) {
  return cat("rt::FloatEnd{", hex_float(end.alpha), " /* alpha */, ", hex_float(end.beta),
             " /* beta */, ", end.c_row, ", ", end.c_column, ", ", end.relu, " /* relu */",
             end.relu == 2 ? cat(", ", hex_float(end.most), " /* most */") : "", "}");
}

std::string text_of(const RowsShape& s) {
  return cat("rt::RowsShape{", s.rows, " /* rows */, ", s.n, " /* elements */, ", s.x_next, ", ",
             s.x_step, ", ", s.y_next, ", ", s.y_step, "}");
}

std::string text_of(const RowAffine& a) {
  return cat("rt::RowAffine{", a.factor_next, ", ", a.factor_step, ", ", a.addend_next, ", ",
             a.addend_step, "}");
}

std::string text_of(const LrnShape& s) {
  return cat("rt::LrnShape{", s.before, ", ", s.after, ", ", hex_float(s.factor), ", ",
             hex_float(s.beta), ", ", hex_float(s.bias), "}");
}

std::string text_of(const Grid& g) {
  return cat("rt::Grid{", g.corners, " /* corners */, {", g.n[0], ", ", g.n[1], ", ", g.n[2],
             "}, {", g.y_step[0], ", ", g.y_step[1], ", ", g.y_step[2], "}, ", g.inner,
             " /* inner */}");
}

std::string text_of(const Filtered& f) {
  return cat("rt::Filtered{", f.out, " /* outputs */, ", f.rows, " /* rows */, ", f.inner,
             " /* neighbours */, ", f.x_row, ", ", f.y_row, ", ", f.x_step, ", ", f.y_step, ", ",
             f.turned, " /* turned */}");
}

std::string text_of(const GateRows& r) {
  return cat("rt::GateRows{", r.rows, " /* rows */, ", r.hidden, " /* hidden */, ", r.x_row, ", ",
             r.gate_row, ", ", r.y_row, ", ", r.valid_step, ", ", r.bias_step, ", ", r.bias_next,
             ", ", hex_float(r.clip), " /* clip */}");
}

std::string text_of(const Picked& p) {
  return cat("rt::Picked{{", p.n[0], ", ", p.n[1], ", ", p.n[2], ", ", p.n[3], "}, {", p.y_step[0],
             ", ", p.y_step[1], ", ", p.y_step[2], ", ", p.y_step[3], "}, ", p.size,
             p.run_count == 0 ? "" : cat(", ", p.run, " /* run */, ", p.run_count), "}");
}

}  // namespace rt
}  // namespace etch
