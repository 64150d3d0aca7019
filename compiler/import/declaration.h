// What a file declares of a value (ValueInfoProto) and how a graph input's shape becomes static.
// Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/import.h"
#include "compiler/ir/graph.h"

namespace etch {

// A declared type: dtype and shape where the file gives them, -1 for sizes it leaves open.
struct Declaration {
  std::optional<DType> dtype;
  std::optional<Shape> shape;
};

// For values that are not graph inputs. Anything but a plain tensor of a type we know declares
// nothing: the operator that makes the value has the last word.
Declaration read_declaration(const onnx::ValueInfoProto& proto);

// The element type of a graph input; null and E-TYPE at `location` for anything but a plain tensor
// of a type we know.
std::optional<DType> read_input_type(const onnx::ValueInfoProto& input, const std::string& location,
                                     Sink& sink);

// Copies `declared` into `value` where nothing is known yet; where both know something, they must
// agree, else E-TYPE or E-SHAPE at `location`.
void declare(const Declaration& declared, const std::string& location, Value& value, Sink& sink);

// Whether a tensor of this shape may be; reports E-SHAPE for a negative size, else E-LIMIT.
bool within_limits(const Shape& shape, const Limits& limits, const std::string& location,
                   Sink& sink);

// Makes the shapes of the graph inputs static. One symbol has one value in the whole model.
class InputShapes {
 public:
  InputShapes(const ImportOptions& options, Sink& sink) : options_(options), sink_(sink) {}

  // Call for each graph input before the first read(): a symbol that is only ever a first size, or
  // the middle one of a recurrent state [layers, batch, units], is the batch, and becomes 1 unless
  // an option fixes it.
  void scan(const onnx::ValueInfoProto& input);

  // Type and static shape of graph input `index`. Reports E-TYPE, E-SHAPE, E-LIMIT or
  // E-UNSUPPORTED.
  std::optional<Declaration> read(const onnx::ValueInfoProto& input, std::size_t index);

  // Warns of options that named nothing in the model.
  void report_unused_options();

 private:
  using Dimension = onnx::TensorShapeProto::Dimension;

  // Where a size of an input is.
  enum class Place : std::uint8_t {
    kFirst,
    kOfState,  // the batch of a recurrent state if there is one: [layers, ?, units]
    kInner,
  };

  // What is known of an input besides its declaration; null: nothing.
  struct Hints {
    const Shape* wanted = nullptr;  // by --input-shape: has to fit
    const Shape* data = nullptr;    // of test data: serves where nothing else says
    std::string example;            // "x=1,3,N,N" for --input-shape
  };

  struct Given {
    std::int64_t size;
    std::string input;  // whose shape says so
  };

  std::optional<Shape> shape_of(const onnx::TensorShapeProto& proto, const Hints& hints,
                                const std::string& location);
  // "1,3,N,N", with N for what is not known.
  std::string example_of(const onnx::TensorShapeProto& proto) const;
  std::optional<std::int64_t> size_of(const Dimension& dimension, std::size_t position, Place place,
                                      const Shape* data, const std::string& example,
                                      const std::string& location);
  // Keeps what --input-shape says of a symbol; E-SHAPE where another option says something else.
  void give(const std::string& symbol, std::int64_t size, const std::string& input);
  // "--input-shape NAME=1,3", as it was given for this input.
  std::string option_of(const std::string& input) const;
  static Place place_of(const onnx::TensorShapeProto& shape, int position);
  bool is_batch(const std::string& symbol, Place place) const;

  const ImportOptions& options_;
  Sink& sink_;
  std::set<std::string> first_symbols_;       // that are an input's first size
  std::set<std::string> inner_symbols_;       // ... at another position, but in a recurrent state
  std::map<std::string, Given> given_sizes_;  // by --input-shape; "": of a first one
  std::set<std::string> noted_symbols_;
  std::set<std::string> unknown_symbols_;  // reported
  std::set<std::string> used_dims_;
  std::set<std::string> used_input_shapes_;
};

}  // namespace etch
