#!/usr/bin/env bash
# A visit to a GPU, without one: tests/gpu/run --prepare with the fake CUDA library, then all stages from the archives
# alone, in a root that has none of the libraries that featherstorm needs, no build folder and no .git. Each claim is a
# function.
#
#   tests/test_gpu_visit.sh [BUILD]     a build folder with tests and the Python package; build/release by default
#
# Needs root, for a mount namespace with an overlay; exit status 77 where these are refused.
set -uo pipefail

if [[ ${1:-} != inside ]]; then
  root=$(cd "$(dirname "$0")/.." && pwd)
  build=$(realpath "${1:-$root/build/release}")
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir -p "$scratch"/{layers,merged,bin,tree,peer,part}
  if ! refused=$(unshare -m bash -c "cd '$scratch' && mount -t tmpfs none layers && mkdir layers/{upper,work} &&
      mount -t overlay none -o lowerdir=/usr,upperdir=layers/upper,workdir=layers/work merged &&
      rm merged/bin/env" 2>&1)
  then
    echo "not run: this machine refuses a mount namespace with an overlay: $refused"
    exit 77
  fi
  echo here >"$scratch/peer/fetched_peer.txt"
  "$root/tests/gpu/run" --prepare "$scratch/archives" --fake-cuda --build "$build" --peers "$scratch/peer" \
    >"$scratch/prepare.txt" 2>&1 || { tail -20 "$scratch/prepare.txt"; exit 1; }
  # the programs in two parts, as one command may carry too little
  (cd "$scratch/archives" && split -n 2 programs.tar.xz programs.tar.xz. && rm programs.tar.xz)
  cp "$scratch"/archives/{info.txt,programs.tar.xz.aa} "$scratch/part/"
  tar -C "$root" --exclude=./build* --exclude=./.git --exclude=./.venv* --exclude=./.cache -c . |
    tar -C "$scratch/tree" -x
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
mapfile -t packages < <(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 'libtbb*' 'libtinyxml2*' \
  libeigen3-dev libgtest-dev librandom123-dev libxbyak-dev libbenchmark-dev 2>/dev/null | sed -n 's/ installed$//p')
dpkg -L "${packages[@]}" | grep -E '/(include|lib|share)/' |
  while read -r file; do if [[ ! -d $file ]]; then rm -f "$file"; fi; done
# the project is where its binaries were not built; its Python environment stays
if [[ $python == "$root"/* ]]; then cp -R --preserve=links "$root/.venv" "$scratch/layers/root/"; fi
# the fake CUDA library alone finds this text where it was built
mkdir -p "$scratch/layers/root/tests/device/fake_cuda"
cp "$root/tests/device/fake_cuda/device_source.h" "$scratch/layers/root/tests/device/fake_cuda/"
mount --bind "$scratch/layers/root" "$root"
set +e

# A program of that machine, from standard input.
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
# visit STAGE [FOLDER] [OPTION...]: what it brings back lies in $scratch/STAGE
visit() {
  "$scratch/tree/tests/gpu/run" --quick --python "${python:-python3}" --work "$scratch/work" \
    --stage "$1" --out "$scratch/$1" "${@:2}" >"$scratch/out" 2>&1
}
# Replaces an unpacked program by a script, from standard input.
plant() { { echo '#!/bin/bash'; cat; } >"$scratch/work/programs/bin/$1" && chmod +x "$scratch/work/programs/bin/$1"; }
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

missing_archives_are_named() {
  ! visit right && expect "no archives were brought to" || return 1
  ! visit right "$scratch/tree" && expect "has no info.txt" || return 1
  ! visit wrong "$scratch/part" && expect "expected right, fast, peers, environments, why or all" || return 1
  ! visit right "$scratch/part" && expect "programs.tar.xz is damaged or not whole" &&
    expect "in 1 files; bring its pieces again"
}

# The first piece of the programs came with the claim above.
right_runs_from_the_archives_alone() {
  rm "$scratch/archives/programs.tar.xz.aa"
  visit right "$scratch/archives" || { cat "$scratch/out"; return 1; }
  expect "gpu fake-cuda-80gb" && expect "== ceilings_quick rc 0" && expect "== device rc 0" &&
    expect "== python rc 0" && expect "passed; see $scratch/right" && at_most_eight_files "$scratch/right" &&
    grep -q "PASSED" "$scratch/right/device.txt" && grep -q "1 passed" "$scratch/right/python.txt"
}

peers_have_what_was_brought_before() {
  visit peers || { cat "$scratch/out"; return 1; }
  expect "== planning rc 0" && [[ -e $scratch/work/peers/fetched_peer.txt ]] && at_most_eight_files "$scratch/peers" ||
    return 1
  if "$python" -c 'import mujoco' 2>/dev/null; then
    expect "== peers rc 0" && grep -q '"featherstorm, any robot",64,.*,same,graph,fake-cuda' "$scratch/peers/peers.csv"
  fi
}

# Of a small task; those of other packages are tested by tests/python/environment/test_device_tasks.py.
environments_are_timed() {
  "$python" -c 'import mujoco' 2>/dev/null || return 0
  visit environments || { cat "$scratch/out"; return 1; }
  expect "== environments rc 0" &&
    grep -q '^Box,float32,64,graph,.*,same$' "$scratch/environments/environments.csv" &&
    at_most_eight_files "$scratch/environments"
}

why_counts_and_checks() {
  visit why || { cat "$scratch/out"; return 1; }
  expect "== counters rc 0" && expect "== memcheck rc 0" && expect "== initcheck rc 0" &&
    at_most_eight_files "$scratch/why" && grep -q Kernel "$scratch/why/counters.csv"
}

# The programs from here on answer at once. The one that hangs ignores the signal to end, too.
fast_records_clocks() {
  plant gpu_specialised <<<'echo "bench,ns"; echo "fd,1.0,same"; [[ $1 == quick ]]'
  plant gpu_ceilings <<<'echo "ceiling,ns"; echo "a warning" >&2'
  visit fast || { cat "$scratch/out"; return 1; }
  expect "fast: 2 passed" && [[ $(wc -l <"$scratch/fast/clocks.csv") -gt 0 ]] && at_most_eight_files "$scratch/fast" &&
    grep -q "a warning" "$scratch/fast/fast.txt" && [[ $(cat "$scratch/fast/ceilings.csv") == ceiling,ns ]]
}

a_program_that_dies_or_hangs_leaves_the_rest_running() {
  local start=$SECONDS
  plant gpu_specialised <<<'kill -SEGV $$'
  plant gpu_ceilings <<<'echo "copy,1.0,DIFFERENT"; exit 1'
  ! visit fast || return 1
  expect "== ceilings rc 1" && expect "== specialised_kernels rc 139" && expect "died by signal 11" &&
    expect "fast: 0 passed; FAILED: ceilings specialised_kernels" && expect "failed: fast" || return 1
  plant gpu_ceilings <<<'trap "" TERM; echo began; for k in {1..300}; do sleep 1; done'
  ! visit fast --limit 6 || return 1
  expect "ended at its limit of" && expect "began" && expect "== specialised_kernels not run: no time is left" &&
    ((SECONDS - start < 60))
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
