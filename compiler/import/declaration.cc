// See declaration.h.
#include "compiler/import/declaration.h"

#include <algorithm>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/import/tensor_data.h"

namespace etch {

namespace {

constexpr std::int64_t kOpen = -1;

// Some exporters write -1 for a size that they leave open.
bool is_fixed(const onnx::TensorShapeProto::Dimension& dimension) {
  return dimension.value_case() == onnx::TensorShapeProto::Dimension::kDimValue &&
         dimension.dim_value() != kOpen;
}

std::string symbol_text(const std::string& symbol) {
  return symbol.empty() ? "without a name" : cat("'", printable(symbol), "'");
}

bool is_compatible(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](std::int64_t x, std::int64_t y) {
    return x == kOpen || y == kOpen || x == y;
  });
}

}  // namespace

Declaration read_declaration(const onnx::ValueInfoProto& proto) {
  Declaration out;
  if (!proto.type().has_tensor_type()) return out;
  const auto& tensor = proto.type().tensor_type();
  out.dtype = dtype_from_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return out;
  out.shape.emplace();
  for (const auto& dimension : tensor.shape().dim()) {
    const bool known = is_fixed(dimension) && dimension.dim_value() >= 0;
    out.shape->push_back(known ? dimension.dim_value() : kOpen);
  }
  return out;
}

std::optional<DType> read_input_type(const onnx::ValueInfoProto& input, const std::string& location,
                                     Sink& sink) {
  const auto fail = [&](std::string what) {
    sink.error(DiagKind::kType, location, std::move(what));
    return std::nullopt;
  };
  if (!input.has_type() || input.type().value_case() == onnx::TypeProto::VALUE_NOT_SET)
    return fail("has no type");
  if (!input.type().has_tensor_type()) return fail("is not a tensor");
  const int type = input.type().tensor_type().elem_type();
  const std::optional<DType> dtype = dtype_from_onnx(type);
  if (!dtype) return fail(cat("element type ", onnx_type_text(type), " is not supported"));
  return dtype;
}

void declare(const Declaration& declared, const std::string& location, Value& value, Sink& sink) {
  if (!value.dtype.has_value()) {
    value.dtype = declared.dtype;
  } else if (declared.dtype.has_value() && *declared.dtype != *value.dtype) {
    sink.error(
        DiagKind::kType, location,
        cat("is declared as ", name_of(*declared.dtype), ", elsewhere as ", name_of(*value.dtype)));
  }
  if (!value.shape.has_value()) {
    value.shape = declared.shape;
  } else if (declared.shape.has_value() && !is_compatible(*declared.shape, *value.shape)) {
    sink.error(DiagKind::kShape, location,
               cat("is declared as ", to_string(*declared.shape), ", elsewhere as ",
                   to_string(*value.shape)));
  }
}

bool within_limits(const Shape& shape, const Limits& limits, const std::string& location,
                   Sink& sink) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      sink.error(DiagKind::kShape, location,
                 cat("has the shape ", to_string(shape), ", sizes must be >= 0"));
      return false;
    }
    // 0 counts as 1: no later product of some of the sizes can overflow.
    count = checked_mul(count, std::max<std::int64_t>(size, 1)).value_or(limits.elements + 1);
    if (count > limits.elements) break;
  }
  if (shape.size() > Limits::kRank) {
    sink.error(DiagKind::kLimit, location,
               cat("has rank ", shape.size(), ", at most ", Limits::kRank, " is possible"));
    return false;
  }
  if (count <= limits.elements) return true;
  sink.error(DiagKind::kLimit, location,
             cat("has the shape ", to_string(shape), ", of its elements ",
                 at_most(limits, &Limits::elements)));
  return false;
}

// Both sizes beside it are fixed.
InputShapes::Place InputShapes::place_of(const onnx::TensorShapeProto& shape, int position) {
  if (position == 0) return Place::kFirst;
  const bool is_state =
      shape.dim_size() == 3 && position == 1 && is_fixed(shape.dim(0)) && is_fixed(shape.dim(2));
  return is_state ? Place::kOfState : Place::kInner;
}

void InputShapes::scan(const onnx::ValueInfoProto& input) {
  const auto& shape = input.type().tensor_type().shape();
  const auto option = options_.input_shapes.find(input.name());
  const bool is_given = option != options_.input_shapes.end() &&
                        static_cast<int>(option->second.size()) == shape.dim_size();
  for (int i = 0; i < shape.dim_size(); ++i) {
    const Dimension& dimension = shape.dim(i);
    const std::string& symbol = dimension.dim_param();
    if (is_fixed(dimension)) continue;
    if (is_given && (i == 0 || !symbol.empty())) {
      give(symbol, option->second[static_cast<std::size_t>(i)], input.name());
    }
    if (i == 0) {
      // A vector, of lengths for example, says nothing of what has no name elsewhere.
      if (!symbol.empty() || shape.dim_size() > 1) first_symbols_.insert(symbol);
    } else if (!symbol.empty() && place_of(shape, i) == Place::kInner) {
      inner_symbols_.insert(symbol);
    }
  }
}

void InputShapes::give(const std::string& symbol, std::int64_t size, const std::string& input) {
  const auto [given, is_first] = given_sizes_.emplace(symbol, Given{size, input});
  if (symbol.empty()) return;  // sizes without a name are not the same one
  const auto report = [&](const std::string& other, std::int64_t other_size) {
    sink_.error(DiagKind::kShape, cat("input '", printable(input), "'"),
                cat("the size ", symbol_text(symbol), " is ", size, " by ", option_of(input), ", ",
                    other_size, " by ", other));
  };
  const auto dim = options_.dims.find(symbol);
  if (dim != options_.dims.end() && dim->second != size) {
    report(cat("--dim ", printable(symbol), "=", dim->second), dim->second);
  } else if (!is_first && given->second.size != size) {
    report(option_of(given->second.input), given->second.size);
  }
}

std::string InputShapes::option_of(const std::string& input) const {
  std::string out;
  for (const std::int64_t size : options_.input_shapes.at(input)) {
    out += cat(out.empty() ? cat("--input-shape ", printable(input), "=") : ",", size);
  }
  return out;
}

bool InputShapes::is_batch(const std::string& symbol, Place place) const {
  if (place == Place::kFirst && symbol.empty()) return true;
  if (place == Place::kInner && symbol.empty()) return false;
  return first_symbols_.count(symbol) != 0 && inner_symbols_.count(symbol) == 0;
}

std::optional<Declaration> InputShapes::read(const onnx::ValueInfoProto& input, std::size_t index) {
  const std::string location = cat("input '", printable(input.name()), "'");
  const auto fail = [&](DiagKind kind, std::string what) {
    sink_.error(kind, location, std::move(what));
    return std::nullopt;
  };
  const std::optional<DType> dtype = read_input_type(input, location, sink_);
  if (!dtype) return std::nullopt;
  const auto& tensor = input.type().tensor_type();
  const auto option = options_.input_shapes.find(input.name());
  const bool has_option = option != options_.input_shapes.end();
  if (has_option) used_input_shapes_.insert(input.name());
  if (!tensor.has_shape() && !has_option) {
    return fail(DiagKind::kShape,
                cat("has no shape; give it with --input-shape ", printable(input.name()), "=..."));
  }
  Hints hints;
  hints.example = cat(printable(input.name()), "=", example_of(tensor.shape()));
  if (has_option) hints.wanted = &option->second;
  if (index < options_.data_shapes.size()) hints.data = &options_.data_shapes[index];
  auto shape = tensor.has_shape() ? shape_of(tensor.shape(), hints, location) : *hints.wanted;
  if (!shape || !within_limits(*shape, options_.limits, location, sink_)) return std::nullopt;
  return Declaration{dtype, std::move(shape)};
}

std::optional<Shape> InputShapes::shape_of(const onnx::TensorShapeProto& proto, const Hints& hints,
                                           const std::string& location) {
  const Shape* const wanted = hints.wanted;
  const auto rank = static_cast<std::size_t>(proto.dim_size());
  if (wanted != nullptr && wanted->size() != rank) {
    sink_.error(DiagKind::kShape, location,
                cat("has rank ", rank, ", --input-shape gives ", to_string(*wanted)));
    return std::nullopt;
  }
  const Shape* const data =
      hints.data != nullptr && hints.data->size() == rank ? hints.data : nullptr;
  Shape shape(rank);
  bool good = true;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dimension& dimension = proto.dim(static_cast<int>(i));
    const auto size = wanted != nullptr && !is_fixed(dimension)
                          ? std::optional((*wanted)[i])
                          : size_of(dimension, i, place_of(proto, static_cast<int>(i)), data,
                                    hints.example, location);
    if (size && wanted != nullptr && *size != (*wanted)[i]) {
      sink_.error(
          DiagKind::kShape, location,
          cat("dimension ", i, " is fixed to ", *size, ", --input-shape gives ", (*wanted)[i]));
    }
    good = good && size.has_value() && (wanted == nullptr || *size == (*wanted)[i]);
    shape[i] = size.value_or(0);
  }
  if (!good) return std::nullopt;
  return shape;
}

std::string InputShapes::example_of(const onnx::TensorShapeProto& proto) const {
  constexpr int kMost = Limits::kRank;  // a file can have thousands
  std::string out;
  for (int i = 0; i < proto.dim_size(); ++i) {
    if (i == kMost) return out + ",...";
    const Dimension& dimension = proto.dim(i);
    const auto option = options_.dims.find(dimension.dim_param());
    if (i != 0) out += ",";
    if (is_fixed(dimension)) {
      out += std::to_string(dimension.dim_value());
    } else if (!dimension.dim_param().empty() && option != options_.dims.end()) {
      out += std::to_string(option->second);
    } else {
      out += is_batch(dimension.dim_param(), place_of(proto, i)) ? "1" : "N";
    }
  }
  return out;
}

std::optional<std::int64_t> InputShapes::size_of(const Dimension& dimension, std::size_t position,
                                                 Place place, const Shape* data,
                                                 const std::string& example,
                                                 const std::string& location) {
  if (is_fixed(dimension)) return dimension.dim_value();
  const std::string& symbol = dimension.dim_param();
  const auto option = symbol.empty() ? options_.dims.end() : options_.dims.find(symbol);
  if (option != options_.dims.end()) {
    used_dims_.insert(symbol);
    return option->second;
  }
  if (data != nullptr) return (*data)[position];
  const bool is_one = is_batch(symbol, place);
  const auto given = given_sizes_.find(symbol);
  if (given != given_sizes_.end() && (!symbol.empty() || (is_one && place == Place::kOfState))) {
    return given->second.size;
  }
  if (is_one) {
    if (symbol.empty() || noted_symbols_.insert(symbol).second) {
      sink_.note(DiagKind::kShape, location,
                 cat("the symbolic batch size ", symbol_text(symbol), " is taken as 1"));
    }
    return 1;
  }
  if (!symbol.empty() && !unknown_symbols_.insert(symbol).second) return std::nullopt;
  const std::string flag = symbol.empty() ? "" : cat("--dim ", printable(symbol), "=N or ");
  sink_.error(DiagKind::kShape, location,
              cat("the symbolic size ", symbol_text(symbol), " is not known; fix it with ", flag,
                  "--input-shape ", example));
  return std::nullopt;
}

void InputShapes::report_unused_options() {
  for (const auto& [symbol, size] : options_.dims) {
    if (used_dims_.count(symbol) != 0) continue;
    sink_.warning(DiagKind::kShape, "",
                  cat("--dim ", printable(symbol), "=", size, " names no size of an input"));
  }
  for (const auto& [name, shape] : options_.input_shapes) {
    if (used_input_shapes_.count(name) != 0) continue;
    sink_.warning(DiagKind::kShape, "",
                  cat("--input-shape ", printable(name), "=", to_string(shape), " names no input"));
  }
}

}  // namespace etch
