# The package for C++ projects: cmake --install build/release --prefix DIR, then find_package(featherstorm) there.
#
#   include/featherstorm/     featherstorm.h, the headers that it includes, and those of core/ for algorithms and joints of a user
#   lib/libfeatherstorm*.a    the engine, and what of the books it does not call itself
#   lib/featherstorm/         what is loaded at run time: libraries of kernels, robots; featherstorm_generate
#   lib/cmake/featherstorm/   the package's CMake files
include(CMakePackageConfigHelpers)
set(run_time_folder ${CMAKE_INSTALL_LIBDIR}/featherstorm)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/featherstorm)

set_target_properties(featherstorm_core PROPERTIES EXPORT_NAME core)
set_target_properties(featherstorm_book PROPERTIES EXPORT_NAME book)
set_target_properties(featherstorm_generate PROPERTIES EXPORT_NAME generate)
target_compile_definitions(featherstorm INTERFACE
  $<INSTALL_INTERFACE:FEATHERSTORM_INSTALLATION="$<INSTALL_PREFIX>/${run_time_folder}">)
install(TARGETS featherstorm_core featherstorm_book featherstorm EXPORT featherstorm ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS featherstorm_generate EXPORT featherstorm RUNTIME DESTINATION ${run_time_folder})
install(EXPORT featherstorm NAMESPACE featherstorm:: FILE featherstorm-targets.cmake DESTINATION ${package_folder})

get_property(backends GLOBAL PROPERTY FEATHERSTORM_BACKENDS)
install(TARGETS ${backends} LIBRARY DESTINATION ${run_time_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/host/robots DESTINATION ${run_time_folder}
  FILES_MATCHING PATTERN "*.urdf" PATTERN "LICENSES.txt")

# The headers of host/ that the public header includes, directly or through others.
set(public_headers host/featherstorm.h)
set(unread ${public_headers})
while(unread)
  list(POP_FRONT unread header)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"host/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" header "${line}")
    if(NOT header IN_LIST public_headers)
      list(APPEND public_headers ${header})
      list(APPEND unread ${header})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/featherstorm/${folder})
endforeach()
install(FILES host/featherstorm.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/featherstorm)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/featherstorm
  FILES_MATCHING PATTERN "*.h")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/featherstorm-config.cmake.in
  ${PROJECT_BINARY_DIR}/featherstorm-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/featherstorm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/featherstorm-config.cmake ${PROJECT_BINARY_DIR}/featherstorm-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/featherstorm_add_robot.cmake DESTINATION ${package_folder})
