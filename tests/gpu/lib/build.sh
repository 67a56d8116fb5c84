# shellcheck shell=bash
# What pack builds and gathers; its variables are those of tests/gpu/pack.

# The targets of a build folder that a visit runs, in $targets.
find_targets() {
  local known wanted=(featherstorm_cpu_base featherstorm_cpu_book featherstorm_cpu_avx2 featherstorm_cpu_avx512 bench_peer_featherstorm _featherstorm)
  known=$(cmake --build "$build" --target help | sed -E 's/^(\.\.\. )?([A-Za-z0-9_]+).*/\2/')
  if ((fake_cuda)); then wanted+=(fake_cuda fake_cuda_nvrtc); else wanted+=(featherstorm_cuda); fi
  mapfile -t programs < <(grep -x 'gpu_[a-z_]*' <<<"$known" | sort -u | grep -xE "gpu_(${only:-.*})")
  ((${#programs[@]})) || fail "$build has no program gpu_...: expected FEATHERSTORM_TESTS=ON there"
  targets=("${programs[@]}")
  for name in "${wanted[@]}"; do
    if grep -qx "$name" <<<"$known"; then targets+=("$name"); fi
  done
}

# A Python with headers. 3.12 first, which the machine visited has; with CMake 3.26 or newer, a module of one from 3.12 on
# serves all of these.
find_python() {
  local candidate
  for candidate in "$@" python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python python3; do
    if "$candidate" -c 'import os, sys, sysconfig
headers = os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
sys.exit(not headers or sys.version_info < (3, 10))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  return 1
}

# That Python, or a virtual environment of it in the build folder, with nanobind; in $python. False where there is none.
python_with_nanobind() {
  local found
  found=$(find_python "${python[@]}") || { missing package "no Python 3.10 or newer with its headers"; return 1; }
  if ! "$found" -c 'import nanobind' 2>/dev/null; then
    if ! "$build/venv/bin/python" -c 'import nanobind' 2>/dev/null; then
      if ! "$found" -m venv --clear "$build/venv" || ! "$build/venv/bin/python" -m pip install --quiet nanobind; then
        missing package "$found has no nanobind, and it could not be installed"
        return 1
      fi
    fi
    found=$build/venv/bin/python
  fi
  python=("$found")
}

# Configures the main project; a folder that --build names with --fake-cuda is taken as it is.
configure() {
  local options=(-DCMAKE_BUILD_TYPE=Release -DFEATHERSTORM_TESTS=ON -DFEATHERSTORM_BENCH=ON) launcher
  if ((fake_cuda)); then
    [[ ! -e $build/CMakeCache.txt ]] || return 0
    options+=(-DFEATHERSTORM_CUDA=OFF)
  else
    # machine code for the GPUs named, so that nothing is compiled when a kernel is first used
    options+=(-DFEATHERSTORM_CUDA=ON "-DFEATHERSTORM_CUDA_TARGETS=$architectures,compute_80"
      "-DFEATHERSTORM_CUDA_BOOK_TARGETS=$architectures,compute_80" -DFEATHERSTORM_GPU_PROGRAM_OPTIONS=-O2)
  fi
  if python_with_nanobind; then
    options+=(-DFEATHERSTORM_PYTHON=ON "-DPython_EXECUTABLE=${python[0]}" "-DPython3_EXECUTABLE=${python[0]}")
  fi
  if command -v ccache >/dev/null; then
    for launcher in C CXX CUDA; do options+=("-DCMAKE_${launcher}_COMPILER_LAUNCHER=ccache"); done
  fi
  if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
  PATH=$PATH:/usr/local/cuda/bin cmake -S "$root" -B "$build" "${options[@]}" >&2
}

# Shared libraries that a machine with a C++ run time may lack, in what ldd says.
libraries_of() {
  awk '$2 == "=>" && $3 ~ /^\// && $1 !~ /^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|cuda)\.|ld-)/ { print $1, $3 }' | sort -u
}

# Programs, libraries, robots and the Python package, as a visit has them.
gather_programs() {
  local name file to=$1
  mkdir -p "$to"/{bin,lib,python} && cp -R "$root/host/robots" "$to/robots" && rm -f "$to"/robots/*.cpp "$to"/robots/*.h
  for name in "${programs[@]}"; do cp "$build/bin/$name" "$to/bin/"; done
  if [[ " ${targets[*]} " == *" bench_peer_featherstorm "* ]]; then cp "$build/bin/bench_peer_featherstorm" "$to/bin/"; fi
  cp "$build"/lib/libfeatherstorm_cpu_*.so "$to/lib/"
  if ((fake_cuda)); then
    cp "$build"/lib/fake_cuda/lib{featherstorm_cuda,nvrtc}.so "$to/lib/"
  else
    cp "$build/lib/libfeatherstorm_cuda.so" "$to/lib/"
  fi
  if [[ " ${targets[*]} " == *" _featherstorm "* ]]; then
    cp -R "$root/python/featherstorm" "$to/python/"
    cp "$(module)" "$to/python/featherstorm/"
  else
    missing package "$build does not build it (FEATHERSTORM_PYTHON)"
  fi
  strip --strip-unneeded "$to"/bin/* "$to"/lib/*.so "$to"/python/featherstorm/*.so 2>/dev/null || true
  while read -r name file; do cp "$file" "$to/lib/$name"; done < <(
    find "$to" -type f \( -path '*/bin/*' -o -name '*.so' \) -exec ldd {} + | libraries_of)
}

# Kernels of robots that are timed, compiled here: the same compiler there finds them in the cache on disk.
compile_kernels() {
  local to=$1 architecture program
  mkdir -p "$to/cache"
  chmod 700 "$to/cache"
  for architecture in ${architectures//,/ }; do
    for program in gpu_specialised gpu_rollouts; do
      [[ -e $to/bin/$program ]] || continue
      FEATHERSTORM_CACHE=$to/cache FEATHERSTORM_BACKENDS=$to/lib FEATHERSTORM_ROBOTS=$to/robots \
        "$to/bin/$program" compile "${architecture#sm_}" >"$build/compile_${program#gpu_}.txt" 2>&1 ||
        missing kernels "$program compile ${architecture#sm_}: $(tail -1 "$build/compile_${program#gpu_}.txt"); they are made there"
    done
  done
}

# The Python extension module.
module() { find "$build/python" "$build/lib" -maxdepth 1 -name '_featherstorm*.so' | head -1; }

# Headers and libraries with which a machine that has none of our packages builds the Python package: files of Debian's.
gather_headers() {
  local to=$1 packages
  command -v dpkg-query >/dev/null || { missing headers "no dpkg-query here, which tells where they lie"; return; }
  mapfile -t packages < <(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 'libtbb*' 'libtinyxml2*' libeigen3-dev \
    librandom123-dev libxbyak-dev 2>/dev/null | sed -n 's/ installed$//p')
  mkdir -p "$to"
  dpkg -L "${packages[@]}" | grep -E '^/(usr/)?(include|lib|share/(eigen3|cmake))/' | sort -u |
    while read -r file; do if [[ ! -d $file ]]; then echo ".$file"; fi; done | tar -C / -c -T - | tar -C "$to" -x
}

# pip, for the Python of the machine visited; what packages need besides is there, or named here.
#   install_for_visit FOLDER PACKAGE...
install_for_visit() {
  local platform platforms=()
  for platform in manylinux_2_{39,35,34,31,28,27,24,17}_x86_64 manylinux2014_x86_64 manylinux1_x86_64; do
    platforms+=(--platform "$platform")
  done
  "${python[0]}" -m pip install --quiet --disable-pip-version-check --target "$1" --no-deps --no-compile --only-binary=:all: \
    --implementation cp --python-version "$wheel_python" "${platforms[@]}" "${@:2}" >&2
}

# The peers, as newly fetched or of an earlier time. Tests and examples of theirs stay behind.
gather_peers() {
  local to=$1 core name
  [[ ! -e $to/.versions ]] || return 0
  rm -rf "$to" "$to.mujoco"
  python_with_nanobind && install_for_visit "$to.mujoco" mujoco || return 1
  # its library is a package of its own, of one version
  core=$(sed -n 's/^Requires-Dist: \(mujoco-core *==[^ ;]*\).*/\1/p' "$to.mujoco"/mujoco-*.dist-info/METADATA)
  install_for_visit "$to" "${peers[@]}" ${core:+"$core"} || return 1
  install_for_visit "$to.models" "${models[@]}" || return 1
  for name in "${models[@]}"; do # without what their Python code imports: it is found, not imported
    (cd "$to.models" && find "$name" -name '*.xml' && echo "$name/__init__.py") | tar -C "$to.models" -c -T - | tar -C "$to" -x
  done
  rm -rf "$to.models"
  rm -rf "$to.mujoco" "$to"/warp/{tests,examples} "$to"/mujoco/mjx/test_data "$to"/*/tests "${to:?}/bin"
  find "$to" -maxdepth 1 -name '*.dist-info' -printf '%f\n' | sed 's/\.dist-info$//;s/-/ /' | sort >"$to/.versions"
}
