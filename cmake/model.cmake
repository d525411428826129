# saltern_add_model(TARGET MODEL file [NAME name] [CPU target...]): compiles a model file into a static library with a
# C99 header, NAME.h, and makes TARGET, which programs link. NAME is TARGET's name unless given.
function(saltern_add_model TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;NAME" "CPU")
  if(NOT arg_MODEL)
    message(FATAL_ERROR "saltern_add_model(${TARGET}): MODEL is missing")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${TARGET})
  endif()
  cmake_path(ABSOLUTE_PATH arg_MODEL BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE model)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_model)
  set(library ${folder}/lib${arg_NAME}.a)
  list(TRANSFORM arg_CPU PREPEND "--target=" OUTPUT_VARIABLE cpu_options)
  add_custom_command(OUTPUT ${library} ${folder}/${arg_NAME}.h
    COMMAND Saltern::saltern compile ${model} -o ${folder} --name ${arg_NAME} ${cpu_options}
    DEPENDS ${model} $<TARGET_FILE:Saltern::saltern> COMMENT "Model ${arg_NAME}" VERBATIM)
  add_custom_target(${TARGET}_files DEPENDS ${library})
  find_package(Threads REQUIRED)
  add_library(${TARGET} INTERFACE)
  add_dependencies(${TARGET} ${TARGET}_files)
  target_include_directories(${TARGET} INTERFACE ${folder})
  target_link_libraries(${TARGET} INTERFACE ${library} Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()
