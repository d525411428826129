# `cmake --install build/release --prefix DIR`: the program, the run world as a library with its headers, a CMake package
# (find_package(Saltern): Saltern::runtime, Saltern::onnx, Saltern::saltern, saltern_add_model) and pkg-config files
# (saltern, saltern-onnx). What is installed can be moved, and needs neither the build tree nor the venv: the program's
# Halide comes with it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS saltern RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS saltern_runtime saltern_onnx saltern_kernels ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(saltern_include ${CMAKE_INSTALL_INCLUDEDIR}/saltern)
install(DIRECTORY runtime DESTINATION ${saltern_include} FILES_MATCHING PATTERN "*.h"
  PATTERN tensor_proto.h EXCLUDE)  # the only one that shows protobuf
# The language: what of it needs no Halide.
install(FILES dsl/types.h dsl/shapes.h dsl/expression.h dsl/value.h dsl/derivative.h dsl/exact_formulas.h
  DESTINATION ${saltern_include}/dsl)
install(FILES ${halide_package}/include/HalideRuntime.h ${halide_package}/include/HalideBuffer.h
  DESTINATION ${saltern_include})

# Only the program needs the Halide compiler, and its autoschedulers beside it.
set(saltern_private ${CMAKE_INSTALL_LIBDIR}/saltern)
install(PROGRAMS ${halide_package}/lib64/libHalide.so ${halide_package}/lib64/libautoschedule_mullapudi2016.so
  ${halide_package}/lib64/libautoschedule_adams2019.so DESTINATION ${saltern_private})
file(GLOB halide_license ${halide_package}-*.dist-info/licenses/LICENSE.txt)
install(FILES ${halide_license} DESTINATION ${saltern_private} RENAME Halide-LICENSE.txt)
file(RELATIVE_PATH to_private /${CMAKE_INSTALL_BINDIR} /${saltern_private})
set_target_properties(saltern PROPERTIES INSTALL_RPATH "$ORIGIN/${to_private}")

set(saltern_package ${CMAKE_INSTALL_LIBDIR}/cmake/Saltern)
configure_package_config_file(cmake/SalternConfig.cmake.in ${CMAKE_BINARY_DIR}/SalternConfig.cmake
  INSTALL_DESTINATION ${saltern_package} PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR saltern_include)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SalternConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SalternConfig.cmake ${CMAKE_BINARY_DIR}/SalternConfigVersion.cmake cmake/model.cmake
  DESTINATION ${saltern_package})
# Where the prefix is, seen from the pkg-config file: --prefix may be given after the build.
file(RELATIVE_PATH saltern_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package saltern saltern-onnx)
  configure_file(cmake/${package}.pc.in ${CMAKE_BINARY_DIR}/${package}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/saltern.pc ${CMAKE_BINARY_DIR}/saltern-onnx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
