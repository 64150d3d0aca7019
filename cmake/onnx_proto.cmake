# The protobuf classes of ONNX as a static library: etch_onnx_classes, made by protoc from onnx/onnx.proto of libonnx-dev,
# with the full runtime, whose unknown fields the importer reads. They are named as those of onnx-ml.proto, whose messages
# they are without a type that no network here has (Opaque), and are in the build folder, which is searched before the
# system's: so every command line is that of other builds, and a compiler cache serves both.
find_file(ETCH_ONNX_PROTO onnx/onnx.proto PATHS ${ETCH_ONNX_INCLUDE_DIR} REQUIRED)
set(onnx_classes ${PROJECT_BINARY_DIR}/onnx/onnx-ml)
file(READ ${ETCH_ONNX_PROTO} onnx_proto_text)
string(REPLACE "option optimize_for = LITE_RUNTIME;" "" onnx_proto_text "${onnx_proto_text}")
file(CONFIGURE OUTPUT ${onnx_classes}.proto CONTENT "${onnx_proto_text}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ETCH_ONNX_PROTO})
add_custom_command(
  OUTPUT ${onnx_classes}.pb.cc ${onnx_classes}.pb.h
  COMMAND protobuf::protoc --proto_path=${PROJECT_BINARY_DIR} --cpp_out=${PROJECT_BINARY_DIR} onnx/onnx-ml.proto
  DEPENDS ${onnx_classes}.proto
  COMMENT "Making the protobuf classes of ONNX"
  VERBATIM)
add_library(etch_onnx_classes STATIC ${onnx_classes}.pb.cc ${onnx_classes}.pb.h)
target_include_directories(etch_onnx_classes SYSTEM PRIVATE ${PROJECT_BINARY_DIR})
target_link_libraries(etch_onnx_classes PUBLIC protobuf::libprotobuf)
