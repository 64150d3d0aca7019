# Builds in which files of one folder are compiled as one (ETCH_UNITY), so that what they include is read once, and
# templates of the standard library are compiled once. For builds from nothing.
# docs/decisions/0026-unity-builds.md has figures.
#
# etch_group_sources(TARGET) puts each source into the group of its folder, operators into that of their first letter and
# files that compile kernels into that of their family, so that a new file changes one group.
# Names of a group differ, also those in anonymous namespaces; UnityGroups in tests/house looks. Alone stay files with
# options of their own, and:
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

function(etch_lines_of_kernels out source)
  file(STRINGS ${source} lines LIMIT_COUNT 1 REGEX ${etch_compiles_kernels})
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# Moves the files that compile kernels from one list to another.
function(etch_take_kernels from to)
  set(kernels "")
  foreach(source IN LISTS ${from})
    etch_lines_of_kernels(lines ${source})
    if(NOT lines STREQUAL "")
      list(APPEND kernels ${source})
    endif()
  endforeach()
  set(others ${${from}})
  list(REMOVE_ITEM others ${kernels})
  set(${from} ${others} PARENT_SCOPE)
  set(${to} ${kernels} PARENT_SCOPE)
endfunction()

function(etch_group_sources target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    if(NOT path MATCHES "^compiler/" OR path MATCHES "^(${etch_alone})$")
      continue()
    endif()
    cmake_path(GET path PARENT_PATH group)
    string(REGEX REPLACE "^(compiler/ops/[a-z]).*$" "\\1" group ${group})
    etch_lines_of_kernels(lines ${source})
    if(NOT lines STREQUAL "")
      string(REGEX MATCH "conv|products|rows|select" family ${group})  # of others there are few
      set(group "etch_kernels/${family}")
    endif()
    file(APPEND ${etch_unity_groups} "${group} ${path}\n")
    string(MAKE_C_IDENTIFIER ${group} group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ETCH_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# etch_group_tests(PREFIX SOURCE...) does so for tests and what supports them, whose helpers have short names that repeat
# (`errors`, `cases`): a file comes into the first group of its folder that has none of its names yet. Names are read when
# CMake runs, so it runs again after a change. The targets' property UNITY_BUILD says whether the groups are used.
set(etch_largest_group 12)

# What lines at the first column of a file's anonymous namespaces declare: names, aliases as NAME=TYPE.
function(etch_own_names out source)
  file(READ ${source} text)
  string(REGEX REPLACE "[][;]" " " text "${text}")  # which lists of CMake do not survive
  string(REGEX REPLACE "\n[^A-Za-z}\n][^\n]*|\n(template|namespace [a-z]|//)[^\n]*" "" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(own FALSE)
  set(names "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace {")
      set(own TRUE)
    elseif(line STREQUAL "}  // namespace")
      set(own FALSE)
    elseif(own AND line MATCHES "^(enum class|enum|struct|class) ([A-Za-z0-9_]+)")
      list(APPEND names ${CMAKE_MATCH_2})
    elseif(own AND line MATCHES "^using ([A-Za-z0-9_]+) = (.*[^ ]) *$")
      list(APPEND names "${CMAKE_MATCH_1}=${CMAKE_MATCH_2}")
    elseif(own AND line MATCHES "^([^({=]*[ &*>])?([A-Za-z0-9_]+) *[({=]")
      list(APPEND names ${CMAKE_MATCH_2})
    endif()
  endforeach()
  list(FILTER names EXCLUDE REGEX "^(TEST|INSTANTIATE)")
  list(REMOVE_DUPLICATES names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

function(etch_group_tests prefix)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(NOT path MATCHES "_test\\.cc$|^tests/support/" OR options)
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    string(REGEX REPLACE "^(compiler/[a-z]+|[a-z]+/[a-z]+|[a-z]+)/.*$" "\\1" folder ${path})
    string(MAKE_C_IDENTIFIER ${prefix}_${folder} folder)
    etch_own_names(names ${source})
    set(number 0)
    while(TRUE)  # the first group that takes it
      set(group ${folder}_${number})
      list(LENGTH files_${group} count)
      set(taken FALSE)
      foreach(name IN LISTS names)
        string(REGEX REPLACE "=.*" "" plain "${name}")
        if(plain IN_LIST names_${group} AND (plain STREQUAL name OR NOT name IN_LIST names_${group}))
          set(taken TRUE)  # but by the same alias, which may be there twice
        endif()
      endforeach()
      if(NOT taken AND count LESS etch_largest_group)
        break()
      endif()
      math(EXPR number "${number} + 1")
    endwhile()
    list(APPEND names_${group} ${names})
    list(TRANSFORM names REPLACE "=.*" "")
    list(APPEND names_${group} ${names})
    list(APPEND files_${group} ${path})
    file(APPEND ${etch_unity_groups} "${group} ${path}\n")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
endfunction()
