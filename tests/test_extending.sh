#!/usr/bin/env bash
# The journeys of docs/extending.md: each patch of tests/extending is applied to a copy of the sources, and the program beside it
# compiled there and run.
#
#   tests/test_extending.sh [BUILD]    a build folder with libfeatherstorm_core.a, build/release unless it is said
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$root/build/release}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compile=("${CXX:-c++}" -std=c++20 -O0 -I"$scratch/tree" -isystem /usr/include/eigen3)

for journey in algorithm surface; do
  rm -rf "$scratch/tree" && mkdir "$scratch/tree"
  cp -r "$root/core" "$scratch/tree" && mkdir "$scratch/tree/host" && cp -r "$root/host/table" "$scratch/tree/host"
  (cd "$scratch/tree" && git apply "$root/tests/extending/$journey.patch")
  "${compile[@]}" -c "$scratch/tree/core/model/contacts.cpp" -o "$scratch/contacts.o"
  "${compile[@]}" "$root/tests/extending/$journey.cpp" "$scratch/contacts.o" "$build/libfeatherstorm_core.a" -o "$scratch/$journey"
  "$scratch/$journey"
done
