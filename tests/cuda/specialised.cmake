# The specialised kernels of the built-in robots: what NVRTC and nvcc make of them, and results of their machine code.
# Need no CUDA library and no driver; skipped where there is no NVRTC of the table's version.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
foreach(program specialised_kernels specialised_cases)
  add_executable(${program} ${program}.cpp)
  target_link_libraries(${program} PRIVATE test_support featherstorm)
  featherstorm_engine_first(${program})
endforeach()
add_test(NAME cuda_specialised_budgets COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/specialised.py check
  $<TARGET_FILE:specialised_kernels>)
add_test(NAME cuda_specialised_machine_code COMMAND Python3::Interpreter
  ${CMAKE_CURRENT_SOURCE_DIR}/test_sass.py $<TARGET_FILE:specialised_cases> engine)
set_tests_properties(cuda_specialised_budgets cuda_specialised_machine_code PROPERTIES SKIP_RETURN_CODE 77 COST 20)
