# `cmake --install build/release --prefix DIR`: the program, the run world as a library with its headers, a CMake package
# (find_package(Saltern), target Saltern::runtime) and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS saltern RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS saltern_runtime saltern_kernels ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(saltern_include ${CMAKE_INSTALL_INCLUDEDIR}/saltern)
install(DIRECTORY runtime DESTINATION ${saltern_include} FILES_MATCHING PATTERN "*.h")
install(FILES dsl/types.h dsl/shapes.h DESTINATION ${saltern_include}/dsl)
install(FILES ${halide_package}/include/HalideRuntime.h ${halide_package}/include/HalideBuffer.h
  DESTINATION ${saltern_include})

set(saltern_package ${CMAKE_INSTALL_LIBDIR}/cmake/Saltern)
configure_package_config_file(cmake/SalternConfig.cmake.in ${CMAKE_BINARY_DIR}/SalternConfig.cmake
  INSTALL_DESTINATION ${saltern_package} PATH_VARS CMAKE_INSTALL_LIBDIR saltern_include)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SalternConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SalternConfig.cmake ${CMAKE_BINARY_DIR}/SalternConfigVersion.cmake
  DESTINATION ${saltern_package})
configure_file(cmake/saltern.pc.in ${CMAKE_BINARY_DIR}/saltern.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/saltern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
