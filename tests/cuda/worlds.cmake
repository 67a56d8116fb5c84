# Kernels of a world's step: results of their machine code, and what NVRTC makes of them.
# Need no CUDA library and no driver; the kernels are skipped where there is no NVRTC.
add_executable(world_cases world_cases.cpp)
target_link_libraries(world_cases PRIVATE test_support featherstorm)
featherstorm_engine_first(world_cases)
add_test(NAME cuda_world_machine_code COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/test_sass.py
  $<TARGET_FILE:world_cases> --table ${CMAKE_CURRENT_SOURCE_DIR}/worlds.csv)
set_tests_properties(cuda_world_machine_code PROPERTIES SKIP_RETURN_CODE 77 COST 20)
