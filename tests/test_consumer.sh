#!/usr/bin/env bash
# The CMake recipe of docs/cpp.md, from another project: tests/consumer against an installed package that has been moved since,
# with the programs that docs/ shows, and against the sources.
#
#   tests/test_consumer.sh [BUILD]    a build folder with everything, build/release unless it is said
#
# Where Python has the packages featherstorm and mujoco, the Go2 of trot.cpp trots in MuJoCo C. PYTHON: that of .venv unless it is said.
# The sources are compiled once more, in build/consumer with the same options as BUILD, so that ccache has the objects.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$root/build/release}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# settings of the user must not help
unset FEATHERSTORM_BACKENDS FEATHERSTORM_ROBOTS

# cmake's output is shown where it fails
quietly() { "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }; }

# the robot of trot.cpp for MuJoCo C; prints the folder of MuJoCo's headers and library
mujoco_robot() {
  "${PYTHON:-$root/.venv/bin/python}" - "$1" 2>"$scratch/out" <<'END'
import sys
from pathlib import Path

import mujoco

import featherstorm as fs
from featherstorm import UrdfWorld

robot = fs.load("go2", world=UrdfWorld(ground=True, motors=True, timestep=0.002))
mujoco.mj_saveModel(robot.compiled, sys.argv[1], None)
print(Path(mujoco.__file__).parent)
END
}

echo "an installed package, moved"
quietly cmake --install "$build" --prefix "$scratch/first"
mv "$scratch/first" "$scratch/installed"
mujoco=$(mujoco_robot "$scratch/go2.mjb") ||
  { mujoco=""; echo "no MuJoCo, the robot of trot is featherstorm's simulation: $(tail -n 1 "$scratch/out")"; }
quietly cmake -S "$root/tests/consumer" -B "$scratch/build" -G Ninja "-DCMAKE_PREFIX_PATH=$scratch/installed" "-DMUJOCO=$mujoco"
quietly cmake --build "$scratch/build"
"$scratch/build/planner" | tee "$scratch/out"
# the folders of the build would serve too, so the program says where its files come from
! grep -E '^(robots|kernels): ' "$scratch/out" | grep -vF ": $scratch/installed/" || { echo "these are not the installed ones"; exit 1; }
grep -q '^kernels: ' "$scratch/out"
for example in first simulate own_algorithm own_joint; do "$scratch/build/$example"; done
"$scratch/build/trot" ${mujoco:+"$scratch/go2.mjb"}

echo "the sources"
quietly cmake -S "$root/tests/consumer" -B "$root/build/consumer" -G Ninja "-DFEATHERSTORM_SOURCE=$root" \
  -DFEATHERSTORM_ISAS=native
quietly cmake --build "$root/build/consumer" --target planner --parallel "${FEATHERSTORM_JOBS:-$(nproc)}"
"$root/build/consumer/planner"
