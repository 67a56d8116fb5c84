# shellcheck shell=bash
# The stages of a visit. Each program has a limit of its own, of which the stage's deadline may leave less; one that hangs is
# ended there, one that dies or fails is counted, and the next one runs.

say() { echo "$*" | tee -a "$log"; }

# program FILE SECONDS COMMAND...: runs it, its output into FILE; of a table what it says on standard error into the log
program() {
  local file=$1 name=${1%.*} limit=$2 rc=0 begin=$SECONDS what errors=$work/errors
  shift 2
  if ! chosen "$name"; then return; fi
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
  (grep -m 8 -E '^FAILED|DIFFERENT|^E  ' "$out/$file" | cut -c1-200 || true) | tee -a "$log"
}
chosen() { [[ -z $only || ,$only, == *,$1,* ]]; }
not_run() { skipped+=("$1 ($2)") && say "== $1 not run: $2"; }

# gpu FILE SECONDS NAME ARGUMENTS...: a program of the parcels
gpu() {
  local file=$1 seconds=$2 name=$3
  program "$file" "$seconds" "$programs/bin/gpu_$name" "${@:4}"
}

# ---- the Python package ----

imports() { PYTHONSAFEPATH=1 PYTHONPATH=$1:$given_path "$python" -c 'import featherstorm' >/dev/null 2>&1; }

# The package that was packed, or else one that is compiled here, beside what runs meanwhile.
begin_package() {
  package=$programs/python
  if imports "$package"; then return; fi
  package=$programs/built
  if imports "$package"; then return; fi
  if ! has_archive headers; then return; fi
  unpack headers
  say "the packed Python package cannot be imported by $python: one is built, see package_build.txt"
  build_package "$folder/usr" >"$out/package_build.txt" 2>&1 &
  building=$!
}
# build_package HEADERS: with what was packed of headers, beside what runs meanwhile
build_package() {
  local interpreter limits=(timeout -k 5 $((deadline - SECONDS)) nice) options=(-DFEATHERSTORM_PYTHON=ON -DFEATHERSTORM_CUDA=OFF)
  interpreter=$(command -v "$python")
  PATH=$PATH:$(dirname "$interpreter")
  if command -v ninja >/dev/null; then options+=(-G Ninja); fi
  options+=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$1" "-DPython_EXECUTABLE=$interpreter" "-DPython3_EXECUTABLE=$interpreter")
  "${limits[@]}" cmake -S "$root" -B "$programs/build" "${options[@]}" &&
    "${limits[@]}" cmake --build "$programs/build" --parallel "$(nproc)" --target _featherstorm &&
    mkdir -p "$programs/built" && cp -R "$root/python/featherstorm" "$programs/built/" &&
    find "$programs/build" -name '_featherstorm*.so' -exec cp {} "$programs/built/featherstorm/" \;
}
# Waits for it, and says whether there is a package; else the program named is not run.
end_package() {
  if [[ -n ${building:-} ]]; then
    wait "$building" || say "the package could not be built: $(tail -1 "$out/package_build.txt")"
    building=
  fi
  if imports "$package"; then use_package && return; fi
  not_run "$1" "featherstorm cannot be imported: $(PYTHONSAFEPATH=1 PYTHONPATH=$package:$given_path "$python" -c 'import featherstorm' 2>&1 | tail -1)"
  return 1
}

# What Python programs see: the package, and the peers where they are unpacked; not the folders that scripts lie in.
use_package() {
  export PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1
  export PYTHONPATH=$package:$root/bench${peers:+:$peers}${given_path:+:$given_path}
}
has_module() { "$python" -c "import $1" 2>/dev/null; }

# ---- the stages ----

# Is it right?
stage_right() {
  begin_package
  gpu ceilings_quick.csv 60 ceilings quick
  gpu results.txt 240 results ${quick:+quick}
  gpu rollout.txt 120 rollout ${quick:+quick}
  gpu engine.txt 150 engine ${quick:+quick}
  if ! end_package package; then return; fi
  program package.txt 60 "$python" "$here/check_package.py" ${quick:+quick}
  if ! has_module torch; then
    not_run torch "PyTorch is not installed"
  elif ! has_module pytest; then
    not_run torch "pytest is not installed"
  else
    program torch.txt 200 "$python" -m pytest -q -rs -p no:cacheprovider "$here/test_torch.py"
  fi
}

# How fast is it, alone on the machine?
stage_fast() {
  record_clocks "$out/clocks.csv"
  timed ceilings.csv 70 ceilings
  timed specialised_kernels.csv 280 specialised "$out/dispatch.csv"
  timed rollouts.csv 80 rollouts
  timed run_time_kernels.csv 70 bench
  stop_clocks
}
# timed FILE SECONDS NAME ARGUMENTS...: a program that ends by itself, the most valuable done, when its time is up
timed() {
  local seconds=$2 left=$((deadline - SECONDS - 10))
  if [[ -n $quick ]]; then
    gpu "$1" 120 "$3" quick "${@:4}"
  else
    gpu "$1" $((seconds + 20)) "$3" "${@:4}" --seconds $((seconds < left ? seconds : left))
  fi
}

# How fast beside others?
stage_peers() {
  unpack_peers
  begin_package
  if ! end_package peers; then return; fi
  program planning.csv 120 "$python" "$here/planning.py" ${quick:+quick}
  if ! has_module mujoco && [[ -z $peers ]]; then
    not_run peers "MuJoCo, with which answers are compared, is not installed"
  else
    program peers.csv $((deadline - SECONDS)) "$python" -m peers.side_by_side "$programs/bin/bench_peer_featherstorm" \
      --seconds $((deadline - SECONDS - 30)) ${quick:+--quick}
  fi
}

unpack_peers() {
  if has_archive peers; then unpack peers && peers=$folder; else say "peers: $(sed -n 's/^missing peers: //p' "$manifest")"; fi
}

# Steps of environments, whose models are files of other packages. Kernels are made in the first half.
stage_environments() {
  unpack_peers
  begin_package
  if ! end_package environments_right; then return; fi
  if ! has_module mujoco; then not_run environments_right "MuJoCo, which reads the tasks' models, is not installed"; return; fi
  record_clocks "$out/environments_clocks.csv"
  program environments_right.txt $((limit * 55 / 100)) "$python" "$here/environments.py" right ${quick:+quick}
  program environments.csv $((deadline - SECONDS)) "$python" "$here/environments.py" fast ${quick:+quick} \
    --seconds $((deadline - SECONDS - 60))
  stop_clocks
}

metrics=gpu__time_duration.sum,launch__registers_per_thread,sm__inst_executed.avg.per_cycle_active,dram__bytes.sum
metrics+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio
metrics+=,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
# A file too large to come back would come back in no part.
keep_small() {
  if (($(stat -c %s "$1") > 16000000)); then say "$1 is left out: $(stat -c %s "$1") bytes" && rm "$1"; fi
}

# Why is it as fast as it is? Counters first, then the checkers, each cut where it takes long.
stage_why() {
  local check=(compute-sanitizer --error-exitcode 9 --print-limit 20 --tool)
  begin_package
  if end_package counters; then
    program counters.txt 150 ncu --clock-control none -k regex:featherstorm_kernel --set full -f -o "$out/counters" \
      "$python" "$here/profile_kernels.py" ${quick:+quick}
    if [[ -e $out/counters.ncu-rep ]]; then
      ncu --import "$out/counters.ncu-rep" --page raw --csv --metrics "$metrics" >"$out/counters.csv" || true
      keep_small "$out/counters.ncu-rep"
    fi
  fi
  program memcheck.txt 120 "${check[@]}" memcheck "$programs/bin/gpu_results" quick
  program racecheck.txt 90 "${check[@]}" racecheck "$programs/bin/gpu_specialised" quick
  program synccheck.txt 60 "${check[@]}" synccheck "$programs/bin/gpu_specialised" quick
  program initcheck.txt 100 "${check[@]}" initcheck "$programs/bin/gpu_results" quick
}

# stage NAME: what it writes, what it comes to
stage() {
  log=$out/$1.txt
  deadline=$((SECONDS + limit)) passed=() failed=() skipped=() building=
  unpack programs
  programs=$folder
  set_environment
  : >"$log"
  { echo "stage $1${quick:+, quick}"; describe_machine; } | tee -a "$log"
  "stage_$1"
  say "$1: ${#passed[@]} passed${failed:+; FAILED: ${failed[*]}}${skipped:+; not run: $(printf '%s, ' "${skipped[@]}" | sed 's/, $//')}"
  ((${#failed[@]} == 0 && ${#passed[@]}))
}
set_environment() {
  export FEATHERSTORM_BACKENDS=$programs/lib FEATHERSTORM_ROBOTS=$programs/robots
  export FEATHERSTORM_CACHE=$work/cache WARP_CACHE_PATH=$work/warp XLA_PYTHON_CLIENT_PREALLOCATE=false
  export LD_LIBRARY_PATH=$programs/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  mkdir -p "$work/cache" && chmod 700 "$work/cache"
  if [[ -d $programs/cache ]]; then cp -Rn "$programs/cache/." "$work/cache/"; fi # kernels that were compiled beforehand
  if [[ -e $programs/lib/libnvrtc.so ]]; then
    export FEATHERSTORM_NVRTC=$programs/lib/libnvrtc.so # the fake CUDA library
  elif [[ -z ${FEATHERSTORM_NVRTC:-} ]]; then
    FEATHERSTORM_NVRTC=$(find_nvrtc)
    export FEATHERSTORM_NVRTC
  fi
}
