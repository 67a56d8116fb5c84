# featherstorm_add_robot(target robot [NAME name] [OPS op...] [CUDA] [DOUBLE] [WIDTH n] [FLOATING_BASE | FIXED_BASE]
#                        [ARCHITECTURE option])
#
# A static library of straight-line kernels for one robot, generated when the project is built (host/compile/generate.h):
#
#   add_subdirectory(featherstorm)                             # or find_package(featherstorm)
#   featherstorm_add_robot(go2_dynamics models/go2.urdf NAME go2 OPS rnea fd step FLOATING_BASE)
#   target_link_libraries(planner PRIVATE go2_dynamics)          # #include "go2.h": go2::fd(q, v, tau, a, stride, count)
#
# robot         a .urdf file or the name of a built-in robot
# NAME          of the header and the namespace; default: the target's
# OPS           operations and derivatives ("fd_vjp"), those of a frame as "jacobian:panda_hand"; default rnea crba fd step
# CUDA          for CUDA: "go2.cuh", namespace go2_cuda. The calling project enables the language CUDA
# WIDTH         instances of a pack on the CPU, default 16 of float or 8 of double
# ARCHITECTURE  the compiler's option for the CPU, default -march=native
function(featherstorm_add_robot target robot)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CUDA;DOUBLE;FLOATING_BASE;FIXED_BASE" "NAME;WIDTH;ARCHITECTURE" "OPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "featherstorm_add_robot(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_FLOATING_BASE AND arg_FIXED_BASE)
    message(FATAL_ERROR "featherstorm_add_robot(${target}): a base is floating or fixed, not both")
  endif()
  set(base usual)
  if(arg_FLOATING_BASE)
    set(base floating)
  elseif(arg_FIXED_BASE)
    set(base fixed)
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  if(NOT arg_OPS)
    set(arg_OPS rnea crba fd step)
  endif()
  set(real float32)
  set(width 16)
  if(arg_DOUBLE)
    set(real float64)
    set(width 8)
  endif()
  if(arg_WIDTH)
    set(width ${arg_WIDTH})
  endif()
  if(NOT DEFINED arg_ARCHITECTURE)
    set(arg_ARCHITECTURE -march=native)
  endif()
  set(language host)
  set(header_end .h)
  set(source_end .cpp)
  if(arg_CUDA)
    set(language cuda)
    set(header_end .cuh)
    set(source_end .cu)
  endif()
  set(depends featherstorm::generate)
  get_filename_component(file "${robot}" ABSOLUTE)
  if(EXISTS "${file}")
    set(robot "${file}")
    list(APPEND depends "${file}")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.generated")
  set(header "${folder}/${arg_NAME}${header_end}")
  set(sources)
  foreach(op ${arg_OPS})
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" op "${op}")
    list(APPEND sources "${folder}/${arg_NAME}_${op}${source_end}")
  endforeach()
  add_custom_command(OUTPUT ${header} ${sources}
    COMMAND featherstorm::generate "${folder}" ${arg_NAME} ${real} ${language} ${width} ${base} "${robot}" ${arg_OPS}
    COMMAND ${CMAKE_COMMAND} -E touch ${header} ${sources}
    DEPENDS ${depends} VERBATIM COMMENT "Generating the dynamics of ${robot}")
  add_library(${target} STATIC ${sources} ${header})
  target_include_directories(${target} PUBLIC "${folder}")
  if(arg_CUDA)
    target_compile_options(${target} PRIVATE -prec-div=false -prec-sqrt=false)
    target_include_directories(${target} PUBLIC ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  else()
    # as host_compile_options() in core/emit/emit.cpp
    target_compile_options(${target} PRIVATE -O2 -fno-math-errno -ffinite-math-only -fno-signed-zeros -fno-trapping-math
      -ffp-contract=fast -Wno-psabi -Wno-unused-parameter ${arg_ARCHITECTURE})
  endif()
endfunction()
