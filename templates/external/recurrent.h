// Descriptors of the functions of runtime/etch_recurrent.h; see templates/external.h.
#pragma once

#include "runtime/etch_recurrent.h"
#include "templates/external.h"

namespace etch::external {

// `gates` neighbouring gates of all rows.
inline Span span_of_gates(const float* p, const rt::GateRows& s, int gates) {
  return span(p, {{s.rows, s.gate_row}}, std::int64_t{gates} * s.hidden);
}
inline Span span_of_state(const float* p, const rt::GateRows& s) {
  return span(p, {}, std::int64_t{s.rows} * s.hidden);
}
inline Span span_of_y(const float* p, const rt::GateRows& s) {
  return span(p, {{s.rows, s.y_row}}, s.hidden);
}
inline Span span_of_valid(const std::uint8_t* p, const rt::GateRows& s) {
  return span(p, {{s.rows, s.valid_step}});
}
inline Span span_of_biases(const float* p, const rt::GateRows& s, std::int64_t n) {
  return span(p, {{2, s.bias_next}, {n, s.bias_step}});
}

struct CopyState : RuntimeFunction {
  CopyState() : RuntimeFunction("copy_state", "etch_recurrent.h", FloatUse::kNone) {}
  void operator()(int rows, int n, const float* x, int x_row, int x_step, float* y,
                  int y_row) const {
    rt::copy_state(rows, n, x, x_row, x_step, y, y_row);
  }
  auto spans(int rows, int n, const float* x, int x_row, int x_step, float* y, int y_row) const {
    return spans_of(span(x, {{rows, x_row}, {n, x_step}}), span(y, {{rows, y_row}}, n));
  }
};

struct SequenceMask : RuntimeFunction {
  SequenceMask() : RuntimeFunction("sequence_mask", "etch_recurrent.h", FloatUse::kNone) {}
  void operator()(const std::int32_t* lengths, int rows, int time, std::uint8_t* valid) const {
    rt::sequence_mask(lengths, rows, time, valid);
  }
  auto spans(const std::int32_t* lengths, int rows, int time, std::uint8_t* valid) const {
    return spans_of(span(lengths, {}, rows), span(valid, {}, std::int64_t{rows} * time));
  }
};

struct ClearUnused : RuntimeFunction {
  ClearUnused() : RuntimeFunction("clear_unused", "etch_recurrent.h", FloatUse::kNone) {}
  void operator()(const std::int32_t* lengths, int rows, int n, float* state) const {
    rt::clear_unused(lengths, rows, n, state);
  }
  auto spans(const std::int32_t* lengths, int rows, int n, float* state) const {
    return spans_of(span(lengths, {}, rows), span(state, {}, std::int64_t{rows} * n));
  }
};

struct AddGates : RuntimeFunction {
  AddGates() : RuntimeFunction("add_gates", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, int n, const float* x, const float* bias,
                  float* gates) const {
    rt::add_gates(s, n, x, bias, gates);
  }
  auto spans(const rt::GateRows& s, int n, const float* x, const float* bias, float* gates) const {
    return spans_of(span(x, {{s.rows, s.x_row}}, n), span_of_biases(bias, s, n),
                    span(gates, {{s.rows, s.gate_row}}, n));
  }
};

struct AddPeephole : RuntimeFunction {
  AddPeephole() : RuntimeFunction("add_peephole", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, const float* p, const float* c, float* gate) const {
    rt::add_peephole(s, p, c, gate);
  }
  auto spans(const rt::GateRows& s, const float* p, const float* c, float* gate) const {
    return spans_of(span(p, {}, s.hidden), span_of_state(c, s), span_of_gates(gate, s, 1));
  }
};

struct RnnState : RuntimeFunction {
  RnnState() : RuntimeFunction("rnn_state", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, float* gates, const std::uint8_t* valid, float* h,
                  float* y) const {
    rt::rnn_state(s, gates, valid, h, y);
  }
  auto spans(const rt::GateRows& s, float* gates, const std::uint8_t* valid, float* h,
             float* y) const {
    return spans_of(span_of_gates(gates, s, 1), span_of_valid(valid, s), span_of_state(h, s),
                    span_of_y(y, s));
  }
};

struct GruReset : RuntimeFunction {
  GruReset() : RuntimeFunction("gru_reset", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, const float* gates, const float* h, float* reset) const {
    rt::gru_reset(s, gates, h, reset);
  }
  auto spans(const rt::GateRows& s, const float* gates, const float* h, float* reset) const {
    return spans_of(span_of_gates(gates, s, 2), span_of_state(h, s), span_of_state(reset, s));
  }
};

struct GruCandidate : RuntimeFunction {
  GruCandidate() : RuntimeFunction("gru_candidate", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, const float* x, const float* bias, float* gates) const {
    rt::gru_candidate(s, x, bias, gates);
  }
  auto spans(const rt::GateRows& s, const float* x, const float* bias, float* gates) const {
    return spans_of(span(x, {{s.rows, s.x_row}}, s.hidden), span_of_biases(bias, s, s.hidden),
                    span_of_gates(gates, s, 3));
  }
};

struct GruState : RuntimeFunction {
  GruState() : RuntimeFunction("gru_state", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, float* gates, const std::uint8_t* valid, float* h,
                  float* y) const {
    rt::gru_state(s, gates, valid, h, y);
  }
  auto spans(const rt::GateRows& s, float* gates, const std::uint8_t* valid, float* h,
             float* y) const {
    return spans_of(span_of_gates(gates, s, 3), span_of_valid(valid, s), span_of_state(h, s),
                    span_of_y(y, s));
  }
};

struct LstmCell : RuntimeFunction {
  LstmCell() : RuntimeFunction("lstm_cell", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, int coupled, float* gates, const std::uint8_t* valid,
                  float* c) const {
    rt::lstm_cell(s, coupled, gates, valid, c);
  }
  auto spans(const rt::GateRows& s, int, float* gates, const std::uint8_t* valid, float* c) const {
    return spans_of(span_of_gates(gates, s, 4), span_of_valid(valid, s), span_of_state(c, s));
  }
};

struct LstmState : RuntimeFunction {
  LstmState() : RuntimeFunction("lstm_state", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const rt::GateRows& s, float* gates, const std::uint8_t* valid, float* h,
                  float* y) const {
    rt::lstm_state(s, gates, valid, h, y);
  }
  auto spans(const rt::GateRows& s, float* gates, const std::uint8_t* valid, float* h,
             float* y) const {
    return spans_of(span_of_gates(gates, s, 4), span_of_valid(valid, s), span_of_state(h, s),
                    span_of_y(y, s));
  }
};

struct AffineRow : RuntimeFunction {
  AffineRow() : RuntimeFunction("affine_row", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(float* x, int n, float alpha, float beta) const {
    rt::affine_row(x, n, alpha, beta);
  }
  auto spans(float* x, int n, float, float) const { return spans_of(span(x, {}, n)); }
};

struct QuantizeState : RuntimeFunction {
  QuantizeState() : RuntimeFunction("quantize_state", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const float* x, int n, std::uint8_t* y, float* scale,
                  std::uint8_t* zero_point) const {
    rt::quantize_state(x, n, y, scale, zero_point);
  }
  auto spans(const float* x, int n, std::uint8_t* y, float* scale, std::uint8_t* zero_point) const {
    return spans_of(span(x, {}, n), span(y, {}, n), span(scale, {}), span(zero_point, {}));
  }
};

struct ScaleSums : RuntimeFunction {
  ScaleSums() : RuntimeFunction("scale_sums", "etch_recurrent.h", FloatUse::kUsed) {}
  void operator()(const std::int32_t* sums, int rows, int n, const float* x_scale,
                  const float* w_scale, int w_step, float* y) const {
    rt::scale_sums(sums, rows, n, x_scale, w_scale, w_step, y);
  }
  auto spans(const std::int32_t* sums, int rows, int n, const float* x_scale, const float* w_scale,
             int w_step, float* y) const {
    const std::int64_t all = std::int64_t{rows} * n;
    return spans_of(span(sums, {}, all), span(x_scale, {}), span(w_scale, {{n, w_step}}),
                    span(y, {}, all));
  }
};

}  // namespace etch::external
