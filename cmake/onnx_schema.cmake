# ONNX's own definitions, out of its wheel: the schema of its files as C++ (target onnx_schema, sources
# ${onnx_generated} below ${onnx_schema}), and what each operator takes and gives as a table
# (generated/onnx_signatures.inc).
saltern_find_package_folder(onnx onnx_package)
cmake_path(GET onnx_package PARENT_PATH onnx_schema_root)
set(onnx_schema ${CMAKE_BINARY_DIR}/onnx_schema)
set(onnx_generated ${onnx_schema}/onnx/onnx-ml.pb.cc ${onnx_schema}/onnx/onnx-data.pb.cc)
file(MAKE_DIRECTORY ${onnx_schema})
add_custom_command(OUTPUT ${onnx_generated}
  COMMAND protobuf::protoc --cpp_out=${onnx_schema} -I${onnx_schema_root} onnx/onnx-ml.proto onnx/onnx-data.proto
  DEPENDS ${onnx_package}/onnx-ml.proto ${onnx_package}/onnx-data.proto COMMENT "ONNX schema" VERBATIM)
set(onnx_signatures ${CMAKE_BINARY_DIR}/generated/onnx_signatures.inc)
add_custom_command(OUTPUT ${onnx_signatures}
  COMMAND ${saltern_python_program} ${PROJECT_SOURCE_DIR}/cmake/onnx_signatures.py ${onnx_signatures}
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/onnx_signatures.py COMMENT "ONNX operators' signatures" VERBATIM)
add_custom_target(onnx_schema DEPENDS ${onnx_generated} ${onnx_signatures})
set_source_files_properties(${onnx_generated} PROPERTIES COMPILE_OPTIONS -w)
