# saltern_kernel(NAME [FROM FILE]): compiles the kernel NAME, declared in generators/FILE.cpp (NAME.cpp by default),
# for every CPU target and adds its row to the registry. Its check and its benchmark need no further line: they walk
# the declarations.
set(SALTERN_KERNEL_DIRECTORY ${CMAKE_BINARY_DIR}/kernels)
file(MAKE_DIRECTORY ${SALTERN_KERNEL_DIRECTORY})

# The program that compiles the kernels declared in one source file.
function(saltern_kernel_program FILE SOURCE)
  add_library(declare_${FILE} OBJECT ${SOURCE})
  target_link_libraries(declare_${FILE} PUBLIC saltern_compile_world)
  target_precompile_headers(declare_${FILE} REUSE_FROM saltern_declarations)
  add_executable(generate_${FILE} $<TARGET_OBJECTS:declare_${FILE}> $<TARGET_OBJECTS:kernel_program>)
  target_link_libraries(generate_${FILE} PRIVATE saltern_found_schedules)
endfunction()

# The objects of one kernel, into the variable OUT.
function(saltern_kernel_objects NAME FILE OUT)
  set(base ${SALTERN_KERNEL_DIRECTORY}/saltern_${NAME})
  set(objects ${base}_avx512.o ${base}_avx2.o ${base}_sse41.o)
  add_custom_command(OUTPUT ${objects}
    COMMAND generate_${FILE} ${NAME} ${SALTERN_KERNEL_DIRECTORY} ${SALTERN_TUNING_DATABASE}
    DEPENDS generate_${FILE} ${SALTERN_TUNING_DATABASE} COMMENT "Kernel ${NAME}" VERBATIM)
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${OUT} ${objects} PARENT_SCOPE)
endfunction()

function(saltern_kernel NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "")
  if(NOT arg_FROM)
    set(arg_FROM ${NAME})
  endif()
  if(NOT TARGET generate_${arg_FROM})
    saltern_kernel_program(${arg_FROM} ${PROJECT_SOURCE_DIR}/generators/${arg_FROM}.cpp)
    set_property(GLOBAL APPEND PROPERTY SALTERN_DECLARATIONS declare_${arg_FROM})
  endif()
  saltern_kernel_objects(${NAME} ${arg_FROM} objects)
  set_property(GLOBAL APPEND PROPERTY SALTERN_KERNEL_NAMES ${NAME})
  set_property(GLOBAL APPEND PROPERTY SALTERN_KERNEL_OBJECTS ${objects})
endfunction()

# A row of algorithms/elementwise.h: NAME and its gradient.
function(saltern_unary_kernel NAME)
  saltern_kernel(${NAME} FROM unary)
  saltern_kernel(${NAME}_gradient FROM unary)
endfunction()

# A row of algorithms/elementwise.h: NAME and its gradient for each operand.
function(saltern_binary_kernel NAME)
  saltern_kernel(${NAME} FROM binary)
  saltern_kernel(${NAME}_gradient_a FROM binary)
  saltern_kernel(${NAME}_gradient_b FROM binary)
endfunction()
