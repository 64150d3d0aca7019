// The parts of the mutator. Each function makes one random change; what it leaves need not be
// valid. Internal to fuzz/.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "fuzz/random.h"

namespace etch::fuzz {

// --- mutate_tensors.cc
inline constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7;  // TensorProto

using Dims = std::vector<std::int64_t>;

// The data type's bytes per element; 0 where that is not whole or not known.
int bytes_of(int data_type);
// Makes `tensor` one of type and shape with random elements of the kind that the type is used for.
void fill(onnx::TensorProto& tensor, int data_type, const Dims& dims, Random& random);
// Elements, shape, type or form of storage.
void mutate_tensor(onnx::TensorProto& tensor, Random& random);

// --- mutate_attributes.cc
// Adds `name` with a value of the kind that operators expect under it.
void add_attribute(onnx::NodeProto& node, const std::string& name, Random& random);
// Changes, adds, removes, doubles or retypes one.
void mutate_attribute(onnx::NodeProto& node, Random& random);

// --- operators.cc
// Adds a node of an operator that the compiler knows, with fresh constants, after some value.
void add_operator(onnx::ModelProto& model, Random& random);
void import_domain(onnx::ModelProto& model, const std::string& domain);
// Gives a node another operator's name.
void change_operator(onnx::ModelProto& model, Random& random);

// --- mutate_packed.cc
// Adds a product of a new input with weights of few bits in blocks, whose sizes agree.
void add_packed_product(onnx::ModelProto& model, Random& random);

// --- mutate_graph.cc
std::string fresh_name(Random& random);
// All that a node may read; not empty.
std::vector<std::string> value_names(const onnx::GraphProto& graph, Random& random);
// What the file says about the shape of a value; empty if nothing.
Dims known_dims(const onnx::GraphProto& graph, const std::string& name);
// Lets a use of `from` by a node before `end`, or the graph's output, be one of `to`.
void replace_one_use(onnx::GraphProto& graph, const std::string& from, const std::string& to,
                     int end, Random& random);
void mutate_wiring(onnx::ModelProto& model, Random& random);
void mutate_nodes(onnx::ModelProto& model, Random& random);
void mutate_interface(onnx::ModelProto& model, Random& random);
void mutate_versions(onnx::ModelProto& model, Random& random);
void make_names_hostile(onnx::ModelProto& model, Random& random);

// --- mutate_control.cc
// Moves a node into the body of a Loop, a Scan or an If.
void enclose(onnx::ModelProto& model, Random& random);
// The graph of the model, or one of those within its nodes.
onnx::GraphProto& some_graph(onnx::ModelProto& model, Random& random);

// --- repair.cc Repairs what the importer would refuse, so that what comes after it sees the
// change.
void repair(onnx::ModelProto& model, Random& random);

}  // namespace etch::fuzz
