# etch_add_model(): a library target from an ONNX model, generated while building. Part of the installed package
# (etch-config.cmake); needs the target etch::etch and ETCH_ISA_FOLDER, where the compiler flags of the instruction sets
# are. The network is generated as one file per instruction set, because CMake has to know the names of sources before
# there is a network.
#
#   etch_add_model(<target> MODEL <file.onnx> [TARGET <isa>] [NAME <name>] [OPTIONS <option>...] [CHECK] [GOLDEN <folder>])
#
#   MODEL    the network, from the source folder or made by another custom command of the same directory
#   TARGET   as in `etch targets`; without it the best of this machine, not allowed when cross-compiling
#   NAME     C++ namespace and header; without it <target>
#   OPTIONS  more for `etch compile`, `etch check` and `etch golden`, such as --qdq float
#   CHECK    ctest runs `etch check`: the test data beside the model, bit for bit (etch_check_<target>)
#   GOLDEN   ctest runs `etch golden verify` on this folder with this model (etch_golden_<target>_<isa>, one for each)

# What `etch targets` prints.
function(_etch_targets out)
  get_target_property(program etch::etch LOCATION)
  execute_process(COMMAND "${program}" targets OUTPUT_VARIABLE list RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "etch_add_model: ${program} does not say which targets there are")
  endif()
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

# The instruction set that "native" stands for on this machine.
function(_etch_native_target out)
  _etch_targets(list)
  if(NOT list MATCHES "(^|\n)([a-z0-9_]+) [^\n]*<- native")
    message(FATAL_ERROR "etch_add_model: `etch targets` does not say which target is this machine's")
  endif()
  set(${out} "${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()

# Of a target that holds several: its instruction sets, best first; else nothing. Those of x86-64-multi
# are listed before it.
function(_etch_multi_variants out target)
  if(target STREQUAL "aarch64-multi")
    set(${out} aarch64_i8mm aarch64_dotprod aarch64 PARENT_SCOPE)
    return()
  elseif(NOT target STREQUAL "x86-64-multi")
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  _etch_targets(list)
  string(REGEX REPLACE "(^|\n)x86-64-multi .*" "" list "${list}")
  string(REGEX MATCHALL "(^|\n)[a-z0-9_]+" names "${list}")
  string(REPLACE "\n" "" names "${names}")
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Sets `out` to the compiler flags of an instruction set.
function(_etch_flags out isa)
  string(REPLACE "-" "_" folder "${isa}")
  set(file "${ETCH_ISA_FOLDER}/${folder}/flags.cmake")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "etch_add_model: there is no target '${isa}'; `etch targets` lists them")
  endif()
  include("${file}")
  set(${out} "${ETCH_ISA_FLAGS}" PARENT_SCOPE)
endfunction()

# Files that options name, as far as they have to be there before the network is generated.
function(_etch_files_of_options out options)
  set(files)
  list(FIND options --tuning at)
  if(NOT at EQUAL -1)
    math(EXPR at "${at} + 1")
    list(GET options ${at} file)
    list(APPEND files "${file}")
  endif()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

function(etch_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CHECK" "MODEL;TARGET;NAME;GOLDEN" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_MODEL)
    message(FATAL_ERROR "etch_add_model(${target} ...): not understood: '${arg_UNPARSED_ARGUMENTS}', without a value: "
                        "'${arg_KEYWORDS_MISSING_VALUES}'; MODEL <file.onnx> is needed")
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_source_file_property(generated "${model}" GENERATED)
  if(NOT generated AND NOT EXISTS "${model}")
    message(FATAL_ERROR "etch_add_model(${target} ...): there is no file ${model}, and no rule that makes it")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME "${target}")
  endif()
  if(NOT arg_TARGET OR arg_TARGET STREQUAL "native")
    if(CMAKE_CROSSCOMPILING)
      message(FATAL_ERROR "etch_add_model(${target} ...): TARGET is needed when cross-compiling")
    endif()
    _etch_native_target(arg_TARGET)
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/etch/${target}")
  set(sources "${folder}/${arg_NAME}.cc")
  set(headers "${folder}/${arg_NAME}.h")
  _etch_multi_variants(variants "${arg_TARGET}")
  if(variants)
    foreach(isa IN LISTS variants)
      set(source "${folder}/${arg_NAME}_${isa}.cc")
      _etch_flags(flags ${isa})
      set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
      list(APPEND sources "${source}")
      list(APPEND headers "${folder}/${arg_NAME}_${isa}.h")
    endforeach()
    set(flags)
  else()
    _etch_flags(flags "${arg_TARGET}")
  endif()

  _etch_files_of_options(option_files "${arg_OPTIONS}")
  set(words "${model}" --target "${arg_TARGET}" ${arg_OPTIONS})
  add_custom_command(
    OUTPUT ${sources} ${headers}
    COMMAND "$<TARGET_FILE:etch::etch>" --quiet compile ${words} --single-file --name "${arg_NAME}" -o "${folder}"
    DEPENDS "${model}" "$<TARGET_FILE:etch::etch>" ${option_files}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "Etch: ${arg_MODEL} for ${arg_TARGET}"
    VERBATIM)

  add_library(${target} ${sources} ${headers})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PUBLIC "${folder}")
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_compile_options(${target} PRIVATE ${flags} -fno-exceptions -fno-rtti)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CXX_FLAGS MATCHES "-O")
    target_compile_options(${target} PRIVATE -O2)  # the default
  endif()

  if(arg_CHECK)
    add_test(NAME etch_check_${target} COMMAND "$<TARGET_FILE:etch::etch>" check ${words}
             WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  if(arg_GOLDEN)
    get_filename_component(golden "${arg_GOLDEN}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    etch_add_golden_tests(${target} "${golden}" "${model}")
  endif()
endfunction()

# One test for each target that golden.json names, so that `ctest -j` and several jobs share them.
function(etch_add_golden_tests target golden model)
  set(verify "$<TARGET_FILE:etch::etch>" golden verify "${golden}" --model "${model}")
  if(NOT EXISTS "${golden}/golden.json")
    add_test(NAME etch_golden_${target} COMMAND ${verify})  # which says what is missing
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${golden}/golden.json")
  file(READ "${golden}/golden.json" text)
  string(JSON count LENGTH "${text}" targets)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON isa MEMBER "${text}" targets ${index})
    add_test(NAME etch_golden_${target}_${isa} COMMAND ${verify} --targets ${isa})
  endforeach()
endfunction()
