# Kernels that a bench makes ahead of its day are those that it uses then: with them in the cache on disk, none is made.
#
#   cmake -DPROGRAM=gpu_rollouts -DFAKE_CUDA=FOLDER [-DLATER=N] -P compile.cmake
#
# LATER: of so many it is known that nothing makes them without a device.
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
set(ENV{FEATHERSTORM_NVRTC} ${FAKE_CUDA}/libnvrtc.so)
set(ENV{FEATHERSTORM_CACHE} ${folder})
set(ENV{FEATHERSTORM_BACKENDS} ${folder}) # nothing there: no device is needed
execute_process(COMMAND ${PROGRAM} quick compile 80 RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
file(GLOB before ${folder}/*.cubin)
set(ENV{FEATHERSTORM_BACKENDS} ${FAKE_CUDA})
execute_process(COMMAND ${PROGRAM} quick RESULT_VARIABLE used OUTPUT_VARIABLE text_used ERROR_VARIABLE text_used)
file(GLOB after ${folder}/*.cubin)
file(REMOVE_RECURSE ${folder})
list(LENGTH before made)
list(LENGTH after there)
if(NOT status EQUAL 0 OR NOT used EQUAL 0 OR made EQUAL 0)
  message(FATAL_ERROR "exit status ${status}, then ${used}; ${made} kernels\n${text}${text_used}")
endif()
if(NOT LATER)
  set(LATER 0)
endif()
math(EXPR expected "${made} + ${LATER}")
if(NOT expected EQUAL there)
  message(FATAL_ERROR "${made} kernels were made ahead, ${LATER} are made later, ${there} were needed")
endif()
