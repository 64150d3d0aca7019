# The tests: one program per area, so that a change links and lists few of them.
#   *_test.cc under compiler/ runtime/ templates/  -> etch_unit_tests
#   tests/AREA/*_test.cc                            -> etch_AREA_tests
#   tests/support/*.cc                              -> etch_test_support, linked to all
#   tests/python                                    -> the test python_package (pytest)
#   tools/attack_judge.cc, tools/attacker           -> the test attack: 200 generated models
#   tests/evidence                                  -> the tests evidence_1 to 3 (tools/check-evidence)
# The target etch_tests builds them all. They are built without optimisation, which a third of the time goes to
# otherwise: what they test is built in etch_core. ETCH_HOT_TESTS lists those that compute much themselves.
find_package(GTest REQUIRED)
include(GoogleTest)

file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS compiler/*_test.cc runtime/*_test.cc templates/*_test.cc)

etch_vocabulary_checks(vocabulary_checks)  # cmake/isa.cmake

add_library(etch_test_options INTERFACE)
# Even then functions that are inlined always (runtime/etch_float.h) are copied into each other, which takes most of the
# time of some files.
target_compile_options(etch_test_options INTERFACE $<$<CONFIG:Release>:-O0> "$<$<CONFIG:Release>:-DETCH_INLINE=static inline>")
# Of inline functions and templates that several files have, a linker keeps the first. So the libraries come before the
# tests: what they compiled is optimised, and the compiler runs in tests as fast as it does for users.
target_link_options(etch_test_options INTERFACE
  $<$<CONFIG:Release>:LINKER:--whole-archive,$<TARGET_FILE:etch_core>,$<TARGET_FILE:etch_cli>,--no-whole-archive>)
# lld takes a fifth of ld's time for seven programs that hold all of the compiler; tools/setup installs it.
find_program(ETCH_LLD ld.lld)
if(ETCH_LLD AND NOT ETCH_STATIC)
  target_link_options(etch_test_options INTERFACE $<$<CONFIG:Release>:-fuse-ld=lld>)
endif()
target_link_libraries(etch_test_options INTERFACE
  etch_cli etch_onnx_proto nlohmann_json::nlohmann_json OpenSSL::Crypto GTest::gtest_main)

# Of these an optimising compiler saves more while they run than it costs. Their precompiled header would have to be
# another one, as it knows whether it was optimised.
set(ETCH_HOT_TESTS
  compiler/program/requantize/form_test.cc compiler/program/requantize/sum_line_test.cc
  runtime/etch_float_test.cc runtime/etch_function_lanes_test.cc runtime/etch_functions_test.cc
  runtime/etch_byte_softmax_test.cc runtime/etch_soft_float_test.cc
  templates/isa/vocab_test.cc templates/native_test.cc)
foreach(source IN LISTS ETCH_HOT_TESTS)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
    message(FATAL_ERROR "ETCH_HOT_TESTS names ${source}, which is not there")
  endif()
  set_source_files_properties(${source} PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>;-UETCH_INLINE" SKIP_PRECOMPILE_HEADERS ON)
endforeach()

function(etch_precompile_for_tests target)
  target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <algorithm> <any> <array> <cmath> <cstdint> <cstring>
    <filesystem> <fstream> <functional> <map> <memory> <numeric> <optional> <random> <set> <span> <string>
    <string_view> <utility> <variant> <vector>)
endfunction()

# Helpers make inputs and compare outputs, element by element.
file(GLOB test_support CONFIGURE_DEPENDS tests/support/*.cc)
add_library(etch_test_support STATIC ${test_support})
target_compile_options(etch_test_support PRIVATE $<$<CONFIG:Release>:-O1>)
if(NOT ETCH_TEST_SAMPLE STREQUAL "")  # clang, where each unit takes 2.4 s less
  etch_precompile_for_tests(etch_test_support)
endif()
target_link_libraries(etch_test_support PUBLIC
  etch_cli etch_onnx_proto nlohmann_json::nlohmann_json OpenSSL::Crypto ZLIB::ZLIB GTest::gtest)
etch_group_tests(etch_test_support ${test_support})  # cmake/unity.cmake
set_target_properties(etch_test_support PROPERTIES UNITY_BUILD ${ETCH_UNITY} UNITY_BUILD_MODE GROUP)
set_source_files_properties(tests/support/paths.cc PROPERTIES COMPILE_DEFINITIONS
  "ETCH_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";ETCH_BINARY=\"$<TARGET_FILE:etch>\"")

add_custom_target(etch_tests)
function(etch_add_tests area)
  set(target etch_${area}_tests)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE etch_test_support etch_test_options)
  add_dependencies(${target} etch)
  etch_group_tests(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ETCH_UNITY} UNITY_BUILD_MODE GROUP)
  if(area STREQUAL unit)
    etch_precompile_for_tests(${target})
  else()
    target_precompile_headers(${target} REUSE_FROM etch_unit_tests)
  endif()
  add_dependencies(etch_tests ${target})
  gtest_discover_tests(${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    NO_PRETTY_VALUES  # of parameters, which may be addresses: names are those of gtest
    PROPERTIES TIMEOUT 600)
endfunction()

# What is expected of any model, for the files that fuzzing has left.
set(fuzz_checks fuzz/checks.cc fuzz/lexer.cc fuzz/limits.cc fuzz/options.cc)

# What tools/gate runs under sanitizers, in one program: of the files with tests one in ETCH_TEST_SHARE. A number chooses
# them by groups, as a group compiles hardly longer than a file.
if(NOT ETCH_TEST_SAMPLE STREQUAL "")
  file(GLOB_RECURSE all_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    compiler/*_test.cc runtime/*_test.cc tests/*_test.cc)
  etch_group_tests(etch_sample ${all_tests})
  set(groups "")
  foreach(source IN LISTS all_tests)
    get_source_file_property(group ${source} UNITY_GROUP)
    if(NOT group)
      set(group ${source})
    endif()
    list(APPEND files_of_${group} ${source})
    string(SHA256 order "${ETCH_TEST_SAMPLE} ${group}")
    list(APPEND groups "${order} ${group}")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  list(SORT groups)
  list(LENGTH all_tests wanted)
  math(EXPR wanted "(${wanted} + ${ETCH_TEST_SHARE} - 1) / ${ETCH_TEST_SHARE}")
  set(sample_tests "")
  foreach(group IN LISTS groups)
    list(LENGTH sample_tests count)
    if(count LESS wanted)
      string(REGEX REPLACE "^.* " "" group ${group})
      list(APPEND sample_tests ${files_of_${group}})
    endif()
  endforeach()
  message(STATUS "Tests of sample ${ETCH_TEST_SAMPLE}: ${sample_tests}")
  add_executable(etch_sample_tests ${sample_tests})
  if("tests/product/fuzz_findings_test.cc" IN_LIST sample_tests)
    target_sources(etch_sample_tests PRIVATE ${fuzz_checks})
  endif()
  target_link_libraries(etch_sample_tests PRIVATE etch_test_support etch_test_options)
  target_precompile_headers(etch_sample_tests REUSE_FROM etch_test_support)
  add_dependencies(etch_sample_tests etch)
  set_target_properties(etch_sample_tests PROPERTIES UNITY_BUILD ${ETCH_UNITY} UNITY_BUILD_MODE GROUP)
  return()
endif()

etch_add_tests(unit ${unit_tests} ${vocabulary_checks})
foreach(area engines recorded product cli house)
  file(GLOB area_tests CONFIGURE_DEPENDS tests/${area}/*_test.cc)
  etch_add_tests(${area} ${area_tests})
  list(APPEND objects_of_tests $<TARGET_OBJECTS:etch_${area}_tests>)
endforeach()
target_sources(etch_product_tests PRIVATE ${fuzz_checks})

# Of the Python package; skipped where `tools/setup` could not install its packages.
add_test(NAME python_package COMMAND ${PROJECT_SOURCE_DIR}/tests/python/run $<TARGET_FILE:etch>)
foreach(part RANGE 1 3)
  add_test(NAME evidence_${part} COMMAND ${PROJECT_SOURCE_DIR}/tests/evidence/run $<TARGET_FILE:etch> ${part}/3)
  set_tests_properties(evidence_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
set_tests_properties(python_package PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)

# The vectors of docs/spec/operators are what their definitions give; generated code keeps the coding rules.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME one_definition COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/house/one-definition
    $<TARGET_OBJECTS:etch_kernels> $<TARGET_OBJECTS:etch_core> $<TARGET_OBJECTS:etch_cli>
    $<TARGET_OBJECTS:etch_test_support> $<TARGET_OBJECTS:etch_unit_tests> ${objects_of_tests}
    COMMAND_EXPAND_LISTS)
  add_test(NAME spec_vectors COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/spec-vectors --check)
  add_test(NAME coding_rules COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/coding-rules --check-page
    --etch $<TARGET_FILE:etch> --targets scalar)
  # The pages of docs/ make a site without a broken link, and their commands run: in parts, as they take minutes.
  add_test(NAME site COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/site --check)
  foreach(part RANGE 1 4)
    add_test(NAME page_commands_${part} COMMAND ${PROJECT_SOURCE_DIR}/tests/pages/run $<TARGET_FILE:etch> --shard ${part}/4)
    set_tests_properties(page_commands_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
  endforeach()
  set_tests_properties(site PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
  add_test(NAME journeys COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/journeys --short --etch $<TARGET_FILE:etch>)
  set_tests_properties(journeys PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
  set_tests_properties(coding_rules PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# What tools/coverage runs: only the measured sources are instrumented, so that all others come from a cache.
if(ETCH_COVERAGE)
  file(GLOB measured CONFIGURE_DEPENDS compiler/import/*.cc compiler/ops/*/op.cc compiler/passes/*.cc
    compiler/passes/compositions/*.cc)
  list(FILTER measured EXCLUDE REGEX "_test\\.cc$")
  set_property(SOURCE ${measured} APPEND PROPERTY COMPILE_OPTIONS -fprofile-instr-generate -fcoverage-mapping)
  set_property(SOURCE ${measured} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  target_link_options(etch_core PUBLIC -fprofile-instr-generate)
  file(GLOB import_tests CONFIGURE_DEPENDS compiler/import/*_test.cc)
  file(GLOB operator_tests CONFIGURE_DEPENDS compiler/ops/*/*_test.cc compiler/ops/*_test.cc)
  set(both_tests compiler/diag/kinds_test.cc compiler/passes/resolve_test.cc compiler/passes/unfuse_test.cc
    tests/product/corpus_test.cc)
  add_executable(etch_import_tests EXCLUDE_FROM_ALL ${import_tests} ${both_tests})
  add_executable(etch_operator_tests EXCLUDE_FROM_ALL ${operator_tests} ${both_tests})
  file(GLOB pass_tests CONFIGURE_DEPENDS compiler/passes/*_test.cc compiler/passes/compositions/*_test.cc)
  set(recorded tests/recorded/recorded_)  # loops, recurrent operators and the like, which have no smaller tests
  add_executable(etch_pass_tests EXCLUDE_FROM_ALL ${pass_tests} compiler/ops/recurrent/op_test.cc
    compiler/ops/non_max_suppression/op_test.cc compiler/import/loop_reader_test.cc ${recorded}control_test.cc
    ${recorded}functions_test.cc ${recorded}ops_test.cc ${recorded}float_test.cc ${recorded}nodes_test.cc
    tests/engines/recurrent_engines_test.cc tests/engines/word_engines_test.cc tests/engines/word_sum_engines_test.cc)
  foreach(tests etch_import_tests etch_operator_tests etch_pass_tests)
    target_link_libraries(${tests} PRIVATE etch_test_support etch_test_options)
  endforeach()
endif()

# What tools/requantize-report runs.
add_executable(etch_requantize_report EXCLUDE_FROM_ALL tools/requantize_report.cc)
target_link_libraries(etch_requantize_report PRIVATE etch_core etch_onnx_proto)

# Cycles of programs of others: tools/bench-firmware --tflm.
add_executable(etch_model_cycles EXCLUDE_FROM_ALL tools/model_cycles.cc)
target_link_libraries(etch_model_cycles PRIVATE etch_cli)

# The judge of tools/attack, and a short attack; skipped where `tools/setup` could not install Python's packages.
add_executable(etch_attack_judge tools/attack_judge.cc)
target_link_libraries(etch_attack_judge PRIVATE etch_test_support)
target_compile_options(etch_attack_judge PRIVATE $<$<CONFIG:Release>:-O0>)
add_test(NAME attack COMMAND ${PROJECT_SOURCE_DIR}/tools/attack --models 200 --judge $<TARGET_FILE:etch_attack_judge>
  --output ${PROJECT_BINARY_DIR}/attack)
set_tests_properties(attack PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)

# These take longest, so they start first: at the end one of them would keep one core busy and the others idle.
foreach(test journeys attack coding_rules evidence_1 evidence_2 evidence_3 python_package
    page_commands_1 page_commands_2 page_commands_3 page_commands_4)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES COST 1000)
  endif()
endforeach()
