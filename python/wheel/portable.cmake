# Libraries of a wheel that a system with glibc 2.28 and libstdc++ 3.4.24 loads, although a newer compiler made them.
#
# portable.cpp brings the old versions of functions of the C library. The C++ library stays a shared one, because TBB passes exceptions
# of ours; only functions that are newer than 3.4.24 come from the static one: std::filesystem, from_chars, exception_ptr's count,
# messages of exceptions. `auditwheel show` tells whether something newer is left.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "FEATHERSTORM_PORTABLE needs g++, found ${CMAKE_CXX_COMPILER_ID}")
endif()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE libstdcxx)
set(newer fs_dir.o fs_ops.o fs_path.o floating_from_chars.o eh_ptr.o functexcept.o snprintf_lite.o)
set(folder ${PROJECT_BINARY_DIR}/portable)
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${CMAKE_AR} x ${libstdcxx} ${newer} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_AR} rcs libnewer.a ${newer} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)

add_library(featherstorm_portable OBJECT wheel/portable.cpp)
target_compile_options(featherstorm_portable PRIVATE -fno-builtin)
# before glibc 2.34, dlopen and mutexes were in libraries of their own
set(old_libraries -Wl,--push-state,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -Wl,--pop-state)
foreach(target _featherstorm ${backends})
  target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:featherstorm_portable> ${folder}/libnewer.a ${old_libraries})
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,libnewer.a)
endforeach()
