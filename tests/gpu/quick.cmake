# Runs the small form of a bench through the fake CUDA library, with kernels compiled anew, and looks at what it wrote: at least one
# line of a result that was compared, none that is wrong.
#
#   cmake -DPROGRAM=gpu_bench -DFAKE_CUDA=FOLDER -P quick.cmake
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
set(ENV{FEATHERSTORM_BACKENDS} ${FAKE_CUDA})
set(ENV{FEATHERSTORM_NVRTC} ${FAKE_CUDA}/libnvrtc.so)
set(ENV{FEATHERSTORM_CACHE} ${folder})
execute_process(COMMAND ${PROGRAM} quick RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE errors)
file(REMOVE_RECURSE ${folder})
message("${text}${errors}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} quick: exit status ${status}")
endif()
if(text MATCHES "DIFFERENT|FAILED")
  message(FATAL_ERROR "${PROGRAM} quick: exit status 0 in spite of a failure")
endif()
if(NOT text MATCHES ",same,")
  message(FATAL_ERROR "${PROGRAM} quick: no result was compared")
endif()
