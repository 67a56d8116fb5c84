# shellcheck shell=bash
# The stages of tests/gpu/run. Each program has a limit, which the deadline of the stage may shorten. A program that
# hangs is ended, one that fails is reported, and the next one runs.

say() { echo "$*" | tee -a "$log"; }
not_run() { skipped+=("$1 ($2)") && say "== $1 not run: $2"; }

# program FILE SECONDS COMMAND...: its output goes to FILE; of a table, standard error goes to the log
program() {
  local file=$1 name=${1%.*} limit=$2 rc=0 begin=$SECONDS what errors=$work/errors
  shift 2
  if [[ -n $only && ,$only, != *,$name,* ]]; then return; fi
  if ! command -v "$1" >/dev/null; then not_run "$name" "there is no ${1##*/}"; return; fi
  if ((limit > deadline - SECONDS)); then limit=$((deadline - SECONDS)); fi
  if ((limit < 5)); then not_run "$name" "no time is left"; return; fi
  if [[ $file == *.csv ]]; then
    timeout -k 5 "$limit" "$@" >"$out/$file" 2>"$errors" </dev/null || rc=$?
    tail -20 "$errors" >>"$log"
  else
    timeout -k 5 "$limit" "$@" >"$out/$file" 2>&1 </dev/null || rc=$?
  fi
  what=$(grep -v '^ *$' "$out/$file" | tail -1 | cut -c1-150 || true)
  if [[ $rc != 0 && $file == *.csv && -s $errors ]]; then what="$(tail -1 "$errors" | cut -c1-200); $what"; fi
  if ((rc == 124 || (rc == 137 && SECONDS - begin >= limit))); then
    what="ended at its limit of $limit s; $what"
  elif ((rc > 128)); then
    what="died by signal $((rc - 128)); $what"
  fi
  if ((rc)); then failed+=("$name"); else passed+=("$name"); fi
  say "== $name rc $rc $((SECONDS - begin)) s: $what"
  (grep -m 8 -E 'FAILED|DIFFERENT|^E  ' "$out/$file" | cut -c1-200 || true) | tee -a "$log"
}
has_module() { "$python" -c "import $1" 2>/dev/null; }
# needs NAME MODULE...: whether Python has these modules; else the program is not run
needs() {
  local module
  for module in "${@:2}"; do
    has_module "$module" || { not_run "$1" "$python cannot import $module"; return 1; }
  done
}

# The tests of devices. C++ in four processes, because most of the time is the host's.
stage_right() {
  local -x FEATHERSTORM_TEST_DEVICE=real
  local filter='*' files
  mapfile -t files < <(find "$root/tests/python" -name 'test_*device*.py')
  if [[ -n $quick ]]; then
    filter='*/rnea:DeviceCopy.*'
    files=("$root/tests/python/operations/test_device_batch.py::test_a_graph_does_the_steps_again")
  fi
  program ceilings_quick.csv 60 "$programs/bin/gpu_ceilings" quick
  program device.txt 300 bash -c 'seq 0 3 | GTEST_TOTAL_SHARDS=4 xargs -P 4 -I% env GTEST_SHARD_INDEX=% "$@"' shards \
    "$programs/bin/test_device" "--gtest_filter=$filter"
  if needs python pytest featherstorm; then
    program python.txt $((deadline - SECONDS)) "$python" -m pytest -q -rs -p no:cacheprovider \
      --continue-on-collection-errors --rootdir "$root" "${files[@]}"
  fi
}

# Measurements, alone on the machine.
stage_fast() {
  record_clocks "$out/clocks.csv"
  timed ceilings.csv 70 ceilings
  timed specialised_kernels.csv 280 specialised "$out/dispatch.csv"
  stop_clocks
}
# timed FILE SECONDS NAME ARGUMENTS...: a program that stops in time, after its most valuable cases
timed() {
  local seconds=$2 left=$((deadline - SECONDS - 10))
  if [[ -n $quick ]]; then
    program "$1" 120 "$programs/bin/gpu_$3" quick "${@:4}"
  else
    program "$1" $((seconds + 20)) "$programs/bin/gpu_$3" "${@:4}" --seconds $((seconds < left ? seconds : left))
  fi
}

# Measurements beside others.
stage_peers() {
  if needs planning featherstorm; then program planning.csv 120 "$python" "$here/planning.py" ${quick:+quick}; fi
  if needs peers featherstorm mujoco; then
    program peers.csv $((deadline - SECONDS)) "$python" -m peers.side_by_side "$programs/bin/bench_peer_featherstorm" \
      --seconds $((deadline - SECONDS - 30)) ${quick:+--quick}
  fi
}

# Steps of environments, whose models are files of other packages.
stage_environments() {
  if ! needs environments featherstorm mujoco; then return; fi
  record_clocks "$out/environments_clocks.csv"
  program environments.csv $((deadline - SECONDS)) "$python" "$here/environments.py" ${quick:+quick} \
    --seconds $((deadline - SECONDS - 60))
  stop_clocks
}

metrics=gpu__time_duration.sum,launch__registers_per_thread,sm__inst_executed.avg.per_cycle_active,dram__bytes.sum
metrics+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio
metrics+=,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio

# The profiler's counters, then the sanitizers.
stage_why() {
  local -x FEATHERSTORM_TEST_DEVICE=real
  local check=(compute-sanitizer --error-exitcode 9 --print-limit 20 --tool)
  local operations=("$programs/bin/test_device"
    '--gtest_filter=*/rnea:*/crba:*/fd:*/step:*/contact_step:*/loop_step:*/coupled_step')
  if needs counters featherstorm; then
    program counters.txt 150 ncu --clock-control none -k regex:featherstorm_kernel --set full -f -o "$out/counters" \
      "$python" "$here/profile_kernels.py" ${quick:+quick}
    if [[ -e $out/counters.ncu-rep ]]; then
      ncu --import "$out/counters.ncu-rep" --page raw --csv --metrics "$metrics" >"$out/counters.csv" || true
      # a file too large to come back would keep the others from coming back
      find "$out/counters.ncu-rep" -size +16000k -delete
    fi
  fi
  program memcheck.txt 120 "${check[@]}" memcheck "${operations[@]}"
  program racecheck.txt 90 "${check[@]}" racecheck "$programs/bin/gpu_specialised" quick
  program synccheck.txt 60 "${check[@]}" synccheck "$programs/bin/gpu_specialised" quick
  program initcheck.txt 100 "${check[@]}" initcheck "${operations[@]}"
}

# stage NAME: writes NAME.txt, which has the machine and a line for each program
stage() {
  log=$out/$1.txt
  deadline=$((SECONDS + limit)) passed=() failed=() skipped=()
  unpack programs
  programs=$work/programs
  # the stage `right` runs more of the Python tests where the peers were unpacked before
  if [[ $1 == peers || $1 == environments ]] && has_archive peers; then unpack peers; fi
  if [[ -e $work/peers/.whole ]]; then peers=$work/peers; fi
  set_environment
  { echo "stage $1${quick:+, quick}"; describe_machine; } | tee "$log"
  "stage_$1"
  say "$1: ${#passed[@]} passed${failed:+; FAILED: ${failed[*]}}${skipped:+; not run: ${skipped[*]}}"
  ((${#failed[@]} == 0 && ${#passed[@]}))
}
