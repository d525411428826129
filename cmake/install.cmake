# `cmake --install build/release --prefix DIR`: the program, the run world and the compiler as libraries with their
# headers, a CMake package (find_package(Saltern): Saltern::runtime, Saltern::nn, Saltern::metrics, Saltern::onnx,
# Saltern::compiler, Saltern::saltern, saltern_add_model) and pkg-config files (saltern, saltern-onnx, saltern-compiler). What is installed can be moved, and
# needs neither the build tree nor the venv: Halide comes with it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS saltern RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS saltern_runtime saltern_nn saltern_metrics saltern_operators saltern_onnx saltern_kernels
  saltern_compiler_archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(saltern_include ${CMAKE_INSTALL_INCLUDEDIR}/saltern)
install(DIRECTORY runtime DESTINATION ${saltern_include} FILES_MATCHING PATTERN "*.h"
  PATTERN tensor_proto.h EXCLUDE  # the only one that shows protobuf
  PATTERN runtime/python EXCLUDE)

# #include <saltern/nn.h>
install(FILES runtime/nn/all.h DESTINATION ${saltern_include} RENAME nn.h)
install(FILES runtime/training/all.h DESTINATION ${saltern_include} RENAME training.h)

# Whether a header of the language or of the algorithms includes Halide.h, however far away.
function(saltern_reaches_halide HEADER OUT)
  set(found FALSE)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${HEADER} includes REGEX "^#include")
  foreach(line ${includes})
    if(line MATCHES "<Halide.h>")
      set(found TRUE)
    elseif(NOT found AND line MATCHES "\"((dsl|algorithms)/[^\"]+)\"")
      saltern_reaches_halide(${CMAKE_MATCH_1} found)
    endif()
  endforeach()
  set(${OUT} ${found} PARENT_SCOPE)
endfunction()

# The language and the algorithms that are written in it: what needs no Halide.
foreach(folder dsl algorithms)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.h)
  foreach(header ${headers})
    saltern_reaches_halide(${header} needs_halide)
    if(NOT needs_halide)
      install(FILES ${header} DESTINATION ${saltern_include}/${folder})
    endif()
  endforeach()
endforeach()

# The compiler: what programs that do not see Halide's call it by.
foreach(header generators/call.h generators/just_in_time.h generators/targets.h
    generators/model/compile.h generators/model/compile_step.h generators/model/compiled_graph.h generators/model/kernel_library.h
    generators/model/model_plan.h generators/model/plan.h
    schedules/knobs.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${saltern_include}/${folder})
endforeach()
install(FILES ${halide_package}/include/HalideRuntime.h ${halide_package}/include/HalideBuffer.h
  DESTINATION ${saltern_include})

# The program and Saltern::compiler need Halide's, and the program its autoschedulers beside it.
set(saltern_private ${CMAKE_INSTALL_LIBDIR}/saltern)
install(PROGRAMS ${halide_package}/lib64/libHalide.so ${halide_package}/lib64/libautoschedule_mullapudi2016.so
  ${halide_package}/lib64/libautoschedule_adams2019.so DESTINATION ${saltern_private})
file(GLOB halide_license ${halide_package}-*.dist-info/licenses/LICENSE.txt)
install(FILES ${halide_license} DESTINATION ${saltern_private} RENAME Halide-LICENSE.txt)
file(RELATIVE_PATH to_private /${CMAKE_INSTALL_BINDIR} /${saltern_private})
set_target_properties(saltern PROPERTIES INSTALL_RPATH "$ORIGIN/${to_private}")

set(saltern_package ${CMAKE_INSTALL_LIBDIR}/cmake/Saltern)
configure_package_config_file(cmake/SalternConfig.cmake.in ${CMAKE_BINARY_DIR}/SalternConfig.cmake
  INSTALL_DESTINATION ${saltern_package} PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR saltern_include saltern_private)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SalternConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SalternConfig.cmake ${CMAKE_BINARY_DIR}/SalternConfigVersion.cmake cmake/model.cmake
  DESTINATION ${saltern_package})
# Where the prefix is, seen from the pkg-config file: --prefix may be given after the build.
file(RELATIVE_PATH saltern_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package saltern saltern-onnx saltern-compiler)
  configure_file(cmake/${package}.pc.in ${CMAKE_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
