#!/usr/bin/env bash
# The launcher against a tiny project with the same shape and no dependencies: no network, nothing installed.
# Each claim is a function; the closing line counts them.
set -uo pipefail

launcher=$(cd "$(dirname "$0")/.." && pwd)/featherstorm
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export FEATHERSTORM_SKIP_APT=1 PIP_NO_INDEX=1

# A project whose package prints what its library and its Python file say. Its name has a blank in it.
make_project() {
  local project=$1
  mkdir -p "$project/python/featherstorm" "$project/core"
  cp "$launcher" "$project/featherstorm"
  cat >"$project/pyproject.toml" <<'END'
[build-system]
requires = []
[project]
dependencies = []
optional-dependencies = { test = [] }
END
  cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(tiny CXX)
option(FEATHERSTORM_PYTHON "" OFF)
option(FEATHERSTORM_TESTS "" OFF)
option(FEATHERSTORM_BENCH "" OFF)
set(FEATHERSTORM_ISAS all CACHE STRING "")
message(STATUS "instruction sets: ${FEATHERSTORM_ISAS}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_executable(speak core/speak.cpp)
add_library(featherstorm_cpu_book MODULE core/book.cpp)
install(TARGETS speak DESTINATION featherstorm COMPONENT python)
install(TARGETS featherstorm_cpu_book DESTINATION featherstorm COMPONENT python OPTIONAL)
add_custom_target(featherstorm_first DEPENDS speak)
add_custom_target(featherstorm_package DEPENDS featherstorm_first featherstorm_cpu_book)
END
  echo 'int pages = 1;' >"$project/core/book.cpp"
  echo 'int main() { return 1; }' >"$project/core/speak.cpp"
  cat >"$project/python/featherstorm/__main__.py" <<'END'
import pathlib, subprocess, sys
print("library", subprocess.run([pathlib.Path(__file__).parent / "speak"]).returncode, "arguments", sys.argv[1:])
END
}

# A folder with programs that stand in for the system's; `name` runs the shell text on standard input.
stand_in() { mkdir -p "$scratch/bin" && { echo '#!/bin/bash'; cat; } >"$scratch/bin/$1" && chmod +x "$scratch/bin/$1"; }

expect() { # expect WORDS... in the file $scratch/out
  grep -qF -- "$*" "$scratch/out" || { echo "  expected: $*"; sed 's/^/  | /' "$scratch/out"; return 1; }
}
refuse() { ! grep -qF -- "$*" "$scratch/out" || { echo "  did not expect: $*"; sed 's/^/  | /' "$scratch/out"; return 1; }; }
launch() { "$project/featherstorm" "$@" >"$scratch/out" 2>&1; }
milliseconds() { # of processor time, which a busy machine does not make longer as it does the clock's
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.0f\n", 1000 * ($1 + $2) }'
}

project="$scratch/a project"
make_project "$project"

help_installs_nothing() {
  launch && expect "./featherstorm simulate go2" && launch --help && expect FEATHERSTORM_JOBS && [[ ! -e $project/.venv ]]
}

first_call_builds_and_runs() {
  launch simulate "two words" && expect "making .venv" && expect "library 1 arguments ['simulate', 'two words']"
}

second_call_does_nothing_twice() {
  launch simulate && refuse featherstorm: && refuse Built && [[ $(wc -l <"$scratch/out") == 1 ]]
}

second_call_starts_at_once() {
  local all python
  all=$(milliseconds launch simulate)
  python=$(milliseconds "$project/.venv/bin/python" -m featherstorm)
  echo "  $all ms, of which Python takes about $python ms"
  ((all - python < 500))
}

installed_book() { echo "$project"/.venv/lib/*/site-packages/featherstorm/libfeatherstorm_cpu_book.so; }

# the launcher's choice of a target for a command
target_of() { (build=$project/build/release && eval "$(sed -n '/^package_target()/,/^}/p' "$project/featherstorm")" && package_target "$@"); }

a_simulation_builds_no_book_until_another_command_has() {
  [[ ! -e $(installed_book) ]] || return 1
  [[ $(target_of simulate go2) == featherstorm_first && $(target_of simulate go2 --ground) == featherstorm_package ]] || return 1
  [[ $(target_of simulate Scene.XML) == featherstorm_package && $(target_of view go2) == featherstorm_package ]] || return 1
  launch info && [[ -e $(installed_book) ]] || return 1
  sleep 1.1
  echo 'int pages = 2;' >"$project/core/book.cpp"
  launch simulate && cmp "$(installed_book)" "$project/build/release/lib/libfeatherstorm_cpu_book.so" &&
    [[ $project/build/release/lib/libfeatherstorm_cpu_book.so -nt $project/core/book.cpp ]]
}

what_shows_robots_installs_what_draws_them() {
  local stamp=$project/.venv/.stamp-view
  launch simulate --plot view && [[ ! -e $stamp ]] || return 1
  launch simulate go2 --video a.mp4 && [[ -e $stamp ]] || return 1
  rm "$stamp" && launch view go2 && [[ -e $stamp ]] && launch simulate && expect "library 1"
}

kernels_are_for_this_machine() {
  grep -q 'FEATHERSTORM_ISAS[:A-Z]*=native' "$project/build/release/CMakeCache.txt"
}

a_changed_source_is_built() {
  sleep 1.1
  echo 'int main() { return 2; }' >"$project/core/speak.cpp"
  launch simulate && expect "library 2"
}

a_changed_python_file_is_installed() {
  sleep 1.1
  sed -i 's/"library"/"book"/' "$project/python/featherstorm/__main__.py"
  touch "$project/python/featherstorm/new.py"
  launch simulate && expect "book 2" && [[ -e $(echo "$project"/.venv/lib/*/site-packages/featherstorm/new.py) ]] || return 1
  sleep 1.1
  rm "$project/python/featherstorm/new.py"
  launch simulate && [[ ! -e $(echo "$project"/.venv/lib/*/site-packages/featherstorm/new.py) ]]
}

a_broken_source_fails() {
  echo 'int main() { return }' >"$project/core/speak.cpp"
  ! launch simulate && expect "the build failed" || return 1
  echo 'int main() { return 3; }' >"$project/core/speak.cpp"
  launch simulate && expect "book 3"
}

two_calls_take_turns() {
  exec {held}>"$project/build/.lock"
  flock "$held"
  "$project/featherstorm" simulate >"$scratch/out" 2>&1 {held}>&- &
  local other=$!
  for _ in {1..100}; do grep -qs waiting "$scratch/out" && break || sleep 0.1; done
  expect "waiting for another featherstorm" && refuse book || return 1
  exec {held}>&-
  wait "$other" && expect "book 3"
}

an_interrupted_installation_is_repeated() {
  rm "$project"/.venv/.stamp-*
  touch "$project/.venv/.unfinished"
  launch simulate && expect "making .venv" && expect "book 3"
}

a_killed_first_call_is_taken_up() {
  rm -rf "$project/.venv"
  setsid "$project/featherstorm" simulate >/dev/null 2>&1 &
  local first=$!
  for _ in {1..100}; do [[ -x $project/.venv/bin/python ]] && break || sleep 0.05; done
  kill -9 -- "-$first"
  wait "$first" 2>/dev/null
  launch simulate && expect "book 3"
}

a_moved_project_works() {
  mv "$project" "$scratch/moved"
  project="$scratch/moved"
  launch simulate && expect "making .venv" && expect "book 3"
}

another_folders_modules_stay_out() {
  mkdir -p "$scratch/elsewhere/featherstorm"
  echo 'raise SystemExit("the wrong one")' >"$scratch/elsewhere/featherstorm/__main__.py"
  [[ $("$project/.venv/bin/python" -c 'import sys; print(sys.version_info >= (3, 11))') == True ]] || return 0
  (cd "$scratch/elsewhere" && launch simulate) && expect "book 3"
}

a_foreign_venv_is_left_alone() {
  mv "$project/.venv" "$scratch/kept"
  mkdir "$project/.venv"
  echo mine >"$project/.venv/file"
  ! launch simulate && expect "was not made by this script" && [[ -e $project/.venv/file ]] || return 1
  rm -r "$project/.venv"
  mv "$scratch/kept" "$project/.venv"
}

an_old_python_is_named() {
  mv "$project/.venv" "$scratch/kept"
  stand_in python-old <<<'[[ $1 == --version ]] && echo Python 3.8.10; exit 1'
  ! PYTHON=$scratch/bin/python-old launch simulate && expect "Python 3.10 or newer is needed" && expect "Python 3.8.10" ||
    return 1
  mv "$scratch/kept" "$project/.venv"
}

# ---- system packages, with stand-ins for the system ----

without_skip() { FEATHERSTORM_SKIP_APT=0 PATH=$scratch/bin:$PATH launch "$@"; }
forget() { rm -f "$project"/.venv/.stamp-*; }

missing_packages_are_named_to_a_user_without_sudo() {
  forget
  stand_in dpkg-query <<<'[[ ${*: -1} == cmake || ${*: -1} == g++ ]] || echo -n installed'
  stand_in id <<<'echo 1000'
  # a PATH without sudo
  mkdir -p "$scratch/no-sudo"
  local program
  for program in bash awk cat cksum cp dirname env find flock grep ls mkdir mv nproc readlink rm sed sort touch head; do
    ln -sf "$(command -v "$program")" "$scratch/no-sudo/"
  done
  stand_in apt-get </dev/null
  ! FEATHERSTORM_SKIP_APT=0 PATH=$scratch/bin:$scratch/no-sudo launch simulate &&
    expect "As root, run: apt-get install --no-install-recommends g++ cmake"
}

sudo_that_would_ask_is_not_called_without_a_terminal() {
  stand_in sudo <<<'exit 1'
  ! without_skip simulate </dev/null && expect "Run: sudo apt-get install --no-install-recommends g++ cmake"
}

root_installs_what_is_missing_only() {
  stand_in id <<<'echo 0'
  stand_in dpkg </dev/null
  stand_in apt-get <<<"echo \"apt \$*\" >>'$scratch/apt'"
  without_skip simulate && expect "installing system packages: g++ cmake" && expect "book 3" || return 1
  grep -q 'apt .* install --no-install-recommends g++ cmake$' "$scratch/apt" || return 1
  rm "$scratch/apt"
  without_skip simulate && [[ ! -e $scratch/apt ]]
}

a_failed_download_is_explained() {
  forget
  stand_in apt-get <<<'exit 100'
  ! without_skip simulate && expect "Is the network reachable? By hand: apt-get install" && expect "g++ cmake"
}

python_packages_out_of_reach_are_named() {
  sed -i 's/^dependencies = .*/dependencies = ["no-such-package-here"]/' "$project/pyproject.toml"
  ! launch simulate && expect "the Python packages could not be installed" && expect "Needed: no-such-package-here" || return 1
  sed -i 's/^dependencies = .*/dependencies = []/' "$project/pyproject.toml"
  launch simulate && expect "book 3"
}

benches_have_packages_of_their_own() {
  sed -i 's/^optional-dependencies = .*/optional-dependencies = { test = [], bench = ["no-such-bench-here"] }/' "$project/pyproject.toml"
  launch install test || return 1
  ! launch install bench && expect "Needed: no-such-bench-here" || return 1
  sed -i 's/^optional-dependencies = .*/optional-dependencies = { test = [] }/' "$project/pyproject.toml"
  launch install bench && launch install test && refuse "installing"
}

passed=0 failed=0
for claim in $(sed -n 's/^\([a-z_]*\)() {$/\1/p' "$0" | grep -vxE 'make_project|expect|launch|installed_book'); do
  if "$claim"; then
    passed=$((passed + 1))
    echo "ok $claim"
  else
    failed=$((failed + 1))
    echo "NOT OK $claim"
  fi
done
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
