#!/usr/bin/env bash
# A visit to a GPU, without one: tests/gpu/pack with the fake CUDA library, then tests/gpu/run from the parcels alone,
# in a root that has none of the libraries that featherstorm needs, no build folder and no .git. Each claim is a function.
#
#   tests/test_gpu_visit.sh [BUILD]     a build folder with tests and the Python package, build/release unless it is said
#
# Needs root, for a mount namespace with an overlay; exit status 77 where these are refused.
set -uo pipefail

if [[ ${1:-} != inside ]]; then
  root=$(cd "$(dirname "$0")/.." && pwd)
  build=$(realpath "${1:-$root/build/release}")
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir -p "$scratch"/{layers,merged,bin,tree}
  if ! refused=$(unshare -m bash -c "mount -t tmpfs none '$scratch/layers' && mkdir '$scratch'/layers/{upper,work} && mount -t overlay \
none -o 'lowerdir=/usr,upperdir=$scratch/layers/upper,workdir=$scratch/layers/work' '$scratch/merged' && rm '$scratch/merged/bin/env'" 2>&1)
  then
    echo "not run: this machine refuses a mount namespace with an overlay: $refused"
    exit 77
  fi
  mkdir -p "$scratch/peer" && head -c 3000000 /dev/urandom >"$scratch/peer/fetched_peer.bin"
  "$root/tests/gpu/pack" --fake-cuda --build "$build" --out "$scratch/parcels" --only ceilings,results --peers "$scratch/peer" \
    --compress 1 --parcel-mb 12 >"$scratch/pack.txt" 2>&1 || { tail -20 "$scratch/pack.txt"; exit 1; }
  tar -C "$root" --exclude=./build* --exclude=./.git --exclude=./.venv* --exclude=./.cache -c . | tar -C "$scratch/tree" -x
  unshare -m bash "$root/tests/test_gpu_visit.sh" inside "$root" "$build" "$scratch"
  exit
fi

# ---- the empty root: from here on in a mount namespace ----

root=$2 build=$3 scratch=$4
python=$(sed -n 's/^Python_EXECUTABLE:[^=]*=//p' "$build/CMakeCache.txt")
set -e
mount --make-rprivate /
mount -t tmpfs none "$scratch/layers"
mkdir "$scratch"/layers/{upper,work,root}
mount -t overlay none -o "lowerdir=/usr,upperdir=$scratch/layers/upper,workdir=$scratch/layers/work" /usr
mapfile -t packages < <(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 'libtbb*' 'libtinyxml2*' libeigen3-dev libgtest-dev \
  librandom123-dev libxbyak-dev libbenchmark-dev 2>/dev/null | sed -n 's/ installed$//p')
dpkg -L "${packages[@]}" | grep -E '/(include|lib|share)/' | while read -r file; do if [[ ! -d $file ]]; then rm -f "$file"; fi; done
# the project is where its binaries were not built; its Python environment stays
if [[ $python == "$root"/* ]]; then cp -R --preserve=links "$root/.venv" "$scratch/layers/root/"; fi
# the fake CUDA library alone finds this text where it was built
mkdir -p "$scratch/layers/root/tests/device/fake_cuda"
cp "$root/tests/device/fake_cuda/device_source.h" "$scratch/layers/root/tests/device/fake_cuda/"
mount --bind "$scratch/layers/root" "$root"
set +e

# A folder with programs of that machine; `machine_has NAME` takes the shell text from standard input.
machine_has() { { echo '#!/bin/bash'; cat; } >"$scratch/bin/$1" && chmod +x "$scratch/bin/$1"; }
machine_has nvidia-smi <<'END'
case "$*" in
  *-lms*) while echo "2026/01/01 00:00:00, 1980, 2619"; do sleep 0.2; done ;;
  *=name,driver*) printf 'name, driver_version\nFake CUDA 80GB, 580\n' ;;
  *=name\ *) echo "Fake CUDA 80GB" ;;
  *) exit 6 ;;
esac
END
machine_has ncu <<'END'
if [[ $1 == --import ]]; then
  echo '"ID","Kernel Name"'
else
  while [[ $1 != -o ]]; do shift; done
  echo counted >"$2.ncu-rep"
  exec "${@:3}"
fi
END
machine_has compute-sanitizer <<'END'
while [[ $1 == -* ]]; do shift 2; done
exec "$@"
END
PATH=$scratch/bin:$PATH

expect() { # expect WORDS... in the file $scratch/out
  grep -qF -- "$*" "$scratch/out" || { echo "  expected: $*"; sed 's/^/  | /' "$scratch/out"; return 1; }
}
visit() { "$scratch/tree/tests/gpu/run" --quick --python "${python:-python3}" --work "$scratch/work" "$@" >"$scratch/out" 2>&1; }
# What an unpacked program is replaced by, from standard input.
plant() {
  local bin
  bin=$(echo "$scratch"/work/programs-*)/bin
  { echo '#!/bin/bash'; cat; } >"$bin/$1" && chmod +x "$bin/$1"
}
at_most_eight_files() {
  local n
  n=$(find "$1" -type f | wc -l)
  ((n > 1 && n <= 8)) || { echo "  $n files in $1"; return 1; }
}

# ---- claims, in this order ----

the_libraries_are_not_here() {
  [[ ! -e /usr/include/eigen3/Eigen/Core && ! -e $root/host && ! -e $build ]] || return 1
  ! compgen -G '/usr/lib/x86_64-linux-gnu/libtinyxml2*' && ! compgen -G '/usr/lib/x86_64-linux-gnu/libtbb*'
}

parcels_are_as_small_as_asked_for() {
  local parcel size
  [[ -d $scratch/parcels/parcel-3 ]] || { ls "$scratch/parcels"; return 1; }
  for parcel in "$scratch"/parcels/*; do
    size=$(cat "$parcel"/* | wc -c)
    ((size <= 12000000)) || { echo "  $parcel has $size bytes"; return 1; }
  done
}

no_parcel_is_an_error() {
  ! visit --packed "$scratch/tree" --stage right --out "$scratch/none" && expect "is no parcel and holds none" || return 1
  ! visit --packed aside --stage right --out "$scratch/none" && expect "nothing was put aside" || return 1
  ! visit --packed "$scratch/parcels" --stage wrong && expect "expected right, fast, peers, environments, why or all"
}

a_damaged_parcel_is_refused() {
  local file
  cp -R "$scratch/parcels/parcel-1" "$scratch/damaged"
  file=$(echo "$scratch"/damaged/*.000)
  printf x | dd of="$file" bs=1 seek=1000 conv=notrunc status=none
  ! visit --packed "$scratch/damaged" --stage right --out "$scratch/none" && expect "programs.tar.xz.000 is damaged" &&
    expect "carry parcel 1 again"
}

a_missing_parcel_is_named() {
  ! visit --packed "$scratch/parcels/parcel-1" --stage right --out "$scratch/none" && expect "programs is not whole" &&
    expect "of parcel 2" && expect "--packed"
}

parcels_of_two_packs_do_not_mix() {
  cp -R "$scratch/parcels/parcel-2" "$scratch/other"
  echo "commit another" >>"$scratch/other/manifest.txt"
  ! visit --packed "$scratch/parcels/parcel-1,$scratch/other" --stage right --out "$scratch/none" && expect "were not packed together"
}

# Parcel 1 was put aside by the claim before the last one.
right_runs_from_the_parcels_alone() {
  visit --packed "$scratch/parcels/parcel-2" --stage right --out "$scratch/right" || true
  expect "gpu fake-cuda-80gb" && expect "== ceilings_quick rc 0" && expect "== results rc 0" && expect "compared, 0 failures" &&
    expect "== rollout not run: there is no gpu_rollout" && at_most_eight_files "$scratch/right" || return 1
  [[ -z $python ]] || expect "== package rc 0" || return 1
  expect "passed; see $scratch/right"
}

# The programs from here on answer at once. What hangs ignores the signal to end, too.
a_program_that_dies_or_hangs_leaves_the_rest_running() {
  local start=$SECONDS
  plant gpu_results <<<'kill -SEGV $$'
  plant gpu_rollout <<<'trap "" TERM; echo began; for k in {1..300}; do sleep 1; done'
  plant gpu_engine <<<'echo "FAILED  fd/arm7: error"; echo "2 calls, 1 failures"; exit 1'
  ! visit --packed aside --stage right --out "$scratch/bad" --only results,engine || return 1
  expect "== results rc 139" && expect "died by signal 11" && expect "== engine rc 1" && expect "FAILED  fd/arm7" &&
    expect "right: 0 passed; FAILED: results engine" && expect "failed: right" || return 1
  ! visit --packed aside --stage right --out "$scratch/bad" --limit 6 --only rollout,engine || return 1
  expect "ended at its limit of" && expect "began" && expect "== engine not run: no time is left" && ((SECONDS - start < 60))
}

fast_records_clocks() {
  plant gpu_specialised <<<'echo "bench,ns"; echo "fd,1.0,same"; [[ $1 == quick ]]'
  plant gpu_bench <<<'echo "bench,ns"; echo "fd,1.0,same"'
  plant gpu_rollouts <<<'echo "rollout,ns"; echo "a warning" >&2'
  visit --packed aside --stage fast --out "$scratch/fast" || { cat "$scratch/out"; return 1; }
  expect "fast: 4 passed" && [[ $(wc -l <"$scratch/fast/clocks.csv") -gt 0 ]] && at_most_eight_files "$scratch/fast" &&
    grep -q "a warning" "$scratch/fast/fast.txt" && [[ $(cat "$scratch/fast/rollouts.csv") == rollout,ns ]]
}

# Pieces of the peers' archive came with two parcels.
peers_have_what_was_carried_before() {
  [[ -n $python ]] || return 0
  visit --packed "$scratch/parcels/parcel-3" --stage peers --out "$scratch/peers" || { cat "$scratch/out"; return 1; }
  expect "== planning rc 0" && [[ -e $(echo "$scratch"/work/peers-*/fetched_peer.bin) ]] && at_most_eight_files "$scratch/peers" ||
    return 1
  if "$python" -c 'import mujoco' 2>/dev/null; then
    expect "== peers rc 0" && grep -q '"featherstorm, any robot",64,.*,same,graph,fake-cuda' "$scratch/peers/peers.csv"
  fi
}

# Of a small task; those of other packages are tested by tests/python/environment/test_device_tasks.py.
environments_are_right_and_timed() {
  [[ -n $python ]] && "$python" -c 'import mujoco' 2>/dev/null || return 0
  visit --packed aside --stage environments --out "$scratch/environments" || { cat "$scratch/out"; return 1; }
  expect "== environments_right rc 0" && expect "2 of 2 compared, 0 failures" && expect "== environments rc 0" &&
    grep -q '^Box,float32,64,graph,.*,same$' "$scratch/environments/environments.csv" && at_most_eight_files "$scratch/environments"
}

why_counts_and_checks() {
  plant gpu_results <<<'echo "$1: 3 launches compared, 0 failures"'
  visit --packed aside --stage why --out "$scratch/why" || { cat "$scratch/out"; return 1; }
  expect "== memcheck rc 0" && expect "quick: 3 launches" && expect "== initcheck rc 0" && at_most_eight_files "$scratch/why" ||
    return 1
  [[ -z $python ]] || { expect "== counters rc 0" && grep -q Kernel "$scratch/why/counters.csv"; }
}

results_are_collected_but_no_quick_ones() {
  local run=$scratch/tree/tests/gpu/run results=$scratch/tree/bench/results/fake-cuda-80gb
  ! "$run" --collect "$scratch/fast" >"$scratch/out" 2>&1 && expect "is of a quick run" && [[ ! -e $results ]] || return 1
  sed -i 's/^stage fast, quick/stage fast/' "$scratch/fast/fast.txt"
  "$run" --collect "$scratch/fast" >"$scratch/out" 2>&1 && [[ -e $results/clocks.csv && -e $results/fast.txt ]] || return 1
  ! "$run" --collect "$scratch/parcels" >"$scratch/out" 2>&1 && expect "it is no stage's"
}

passed=0 failed=0
for claim in $(sed -n '/^# ---- claims/,$s/^\([a-z_]*\)() {$/\1/p' "$scratch/tree/tests/test_gpu_visit.sh"); do
  start=$SECONDS
  if "$claim"; then
    passed=$((passed + 1))
    echo "ok $claim ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "NOT OK $claim"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
