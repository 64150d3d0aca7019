# Builds in which files of one folder are compiled as one (ETCH_UNITY), so that what they include is read once, and
# templates of the standard library are compiled once. For builds from nothing.
# docs/decisions/0026-unity-builds.md has figures.
#
# etch_group_sources(TARGET) puts each source into the group of its folder, operators into that of their first letter, so
# that a new file changes one group. Names of a group differ, also those in anonymous namespaces; UnityGroups in tests/house
# looks. Alone stay files with options of their own, and:
#   - files that compile kernels, as that takes most of their time
#   - check.cc, of which the fuzzing programs have their own (fuzz/finding.cc)
#   - the rest of etch_alone: their short names, of registers, places on the stack, or inputs, are clear beside the code only
set(etch_alone
  "compiler/base/check\\.cc"
  "compiler/kernels/conv/(dsp|helium)/([a-z]*_function|low|mla)\\.cc"
  "compiler/passes/functions/(attention|group_query_attention|multi_head_attention)\\.cc")
list(JOIN etch_alone "|" etch_alone)
set(etch_compiles_kernels "^#include \"(templates/(kernels|external)/|compiler/stage/staged_step_impl\\.h)")
set(etch_unity_groups ${PROJECT_BINARY_DIR}/generated/unity_groups.txt)  # a line for each file: its group and its path
file(WRITE ${etch_unity_groups} "")

function(etch_group_sources target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    if(NOT path MATCHES "^compiler/" OR path MATCHES "^(${etch_alone})$")
      continue()
    endif()
    file(STRINGS ${source} kernels LIMIT_COUNT 1 REGEX ${etch_compiles_kernels})
    if(NOT kernels STREQUAL "")
      continue()
    endif()
    cmake_path(GET path PARENT_PATH group)
    string(REGEX REPLACE "^(compiler/ops/[a-z]).*$" "\\1" group ${group})
    file(APPEND ${etch_unity_groups} "${group} ${path}\n")
    string(MAKE_C_IDENTIFIER ${group} group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ETCH_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
