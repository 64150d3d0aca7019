# What CMake reads from templates/isa/isas.def and cross.def, the two lists of targets, so that an instruction set is
# nothing but its folder and its line there:
#   generated/isa_traits.h, generated/cross_traits.h   include the facts of every target of either list
#   etch_vocabulary_checks(OUT)                        one source per target of this machine's kind that runs its verbs
#                                                      for templates/isa/vocab_test.cc, with its flags set
function(etch_read_isas list macro out)
  file(STRINGS ${PROJECT_SOURCE_DIR}/templates/isa/${list} lines REGEX "^${macro}\\(")
  list(TRANSFORM lines REPLACE "^${macro}\\(([a-z0-9_]+)\\).*$" "\\1")
  set(${out} ${lines} PARENT_SCOPE)
endfunction()

function(etch_write_includes file folders header_names)
  set(text "// Made by cmake/isa.cmake.\n#pragma once\n\n")
  foreach(folder IN LISTS folders)
    foreach(name IN LISTS header_names)
      string(APPEND text "#include \"templates/isa/${folder}/${name}\"\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${file} CONTENT "${text}" @ONLY)
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/templates/isa/isas.def ${PROJECT_SOURCE_DIR}/templates/isa/cross.def)
etch_read_isas(isas.def ETCH_ISA etch_isas)
etch_read_isas(cross.def ETCH_CROSS etch_cross_targets)
etch_write_includes(isa_traits.h "${etch_isas}" "traits.h")
etch_write_includes(cross_traits.h "${etch_cross_targets}" "traits.h;machine.h")

function(etch_vocabulary_checks out)
  set(sources "")
  foreach(folder IN LISTS etch_isas)
    set(source ${PROJECT_BINARY_DIR}/generated/vocab_check_${folder}.cc)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
      "#include \"templates/isa/@folder@/vocab.h\"\n\n#define ETCH_VOCABULARY @folder@\n#include \"templates/isa/vocab_verbs.h\"\n")
    include(${PROJECT_SOURCE_DIR}/templates/isa/${folder}/flags.cmake)
    # With fused float expressions allowed, which the verbs must withstand. ETCH_INLINE is the header's own again: a function
    # of which a linker keeps one must not be of these instructions.
    set(options ${ETCH_ISA_FLAGS} -ffp-contract=fast -O1 -UETCH_INLINE)
    set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS "${options}")
    set_property(SOURCE ${source} PROPERTY INCLUDE_DIRECTORIES
      "${PROJECT_SOURCE_DIR}/runtime;${PROJECT_SOURCE_DIR}/templates/isa/shared")
    set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    list(APPEND sources ${source})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
