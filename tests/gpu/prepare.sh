# shellcheck shell=bash
# tests/gpu/run --prepare: builds the programs, gathers what they need, and writes one archive for each purpose.

# prepare FOLDER [--arch sm_90[,sm_80]] [--build FOLDER] [--python PYTHON] [--peers FOLDER | --no-peers] [--fake-cuda]
prepare() {
  local out architectures build=$root/build/gpu python='' peers=fetch fake_cuda=0 level=-6
  out=$(realpath -m "${1:?--prepare needs a folder}")
  architectures=$(gpu_query compute_cap | sed 's/^\([0-9]*\)\.\([0-9]*\)$/sm_\1\2/')
  architectures=${architectures:-sm_90}
  shift
  while (($#)); do
    case $1 in
      --arch) architectures=$2; shift 2 ;;
      --build) build=$(realpath -m "$2"); shift 2 ;;
      --python) python=$2; shift 2 ;;
      --peers) peers=$(realpath "$2"); shift 2 ;;
      --no-peers) peers=; shift ;;
      --fake-cuda) # its archives stay here: xz -0 takes a tenth of the time of -6
        fake_cuda=1 level=-0 peers=${peers#fetch}
        shift
        ;;
      *) usage ;;
    esac
  done
  [[ $architectures =~ ^sm_[0-9]+(,sm_[0-9]+)*$ ]] || \
    fail "--arch is $architectures, expected sm_90 or a list of such names"
  [[ -n $python ]] || python=$(find_python) || fail "no Python 3.10 or newer with its headers: name one with --python"
  local gathered=$build/gathered
  rm -rf "$gathered" && mkdir -p "$gathered" "$out"
  rm -f "$out"/{programs,peers}.tar.xz* "$out/info.txt"

  local targets=(test_device featherstorm_cpu_{base,base_world,book} bench_peer_featherstorm _featherstorm)
  targets+=(gpu_{specialised,ceilings})
  if ((fake_cuda)); then
    targets+=(fake_cuda fake_cuda_nvrtc)
  else
    targets+=(featherstorm_cuda featherstorm_cpu_{avx2,avx512}{,_world})
  fi
  configure
  cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" >&2
  gather_programs "$gathered/programs"
  if ((!fake_cuda)); then compile_kernels "$gathered/programs"; fi
  case $peers in
    '') ;;
    fetch) fetch_peers "$gathered/peers" ;;
    *) cp -R "$peers" "$gathered/peers" ;;
  esac
  {
    echo "commit $(git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)"
    echo "prepared $(date -u +%Y-%m-%dT%H:%MZ) for $architectures"
    for name in programs peers; do
      [[ -d $gathered/$name ]] || continue
      tar -C "$gathered/$name" --sort=name --owner=0 --group=0 --exclude=__pycache__ -c . |
        xz -T0 "$level" >"$out/$name.tar.xz"
      echo "archive $name $(stat -c %s "$out/$name.tar.xz") $(sha256sum <"$out/$name.tar.xz" | cut -d' ' -f1)"
    done
  } >"$out/info.txt"
  rm -rf "$gathered"
  cat "$out/info.txt"
}

# A Python with headers. CMake 3.26 makes a module of 3.12 that later versions import too.
find_python() {
  local candidate
  for candidate in python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python python3; do
    if "$candidate" -c 'import os, sys, sysconfig
headers = os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
sys.exit(not headers or sys.version_info < (3, 10))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  return 1
}

# A build folder that exists is kept as it is configured for the fake CUDA library.
configure() {
  local launcher options=(-DCMAKE_BUILD_TYPE=Release)
  options+=(-DFEATHERSTORM_TESTS=ON -DFEATHERSTORM_BENCH=ON -DFEATHERSTORM_PYTHON=ON)
  if ((fake_cuda)); then
    [[ ! -e $build/CMakeCache.txt ]] || return 0
    options+=(-DFEATHERSTORM_CUDA=OFF)
  else
    # machine code for the GPUs named, so that the driver compiles nothing
    options+=(-DFEATHERSTORM_CUDA=ON "-DFEATHERSTORM_CUDA_TARGETS=$architectures,compute_80"
      "-DFEATHERSTORM_CUDA_BOOK_TARGETS=$architectures,compute_80" -DFEATHERSTORM_GPU_PROGRAM_OPTIONS=-O2)
  fi
  if ! "$python" -c 'import nanobind' 2>/dev/null; then
    [[ -x $build/venv/bin/python ]] || "$python" -m venv "$build/venv"
    python=$build/venv/bin/python
    "$python" -m pip install --quiet nanobind || fail "nanobind could not be installed for $python"
  fi
  if command -v ccache >/dev/null; then
    for launcher in C CXX CUDA; do options+=("-DCMAKE_${launcher}_COMPILER_LAUNCHER=ccache"); done
  fi
  if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
  cmake -S "$root" -B "$build" "${options[@]}" "-DPython_EXECUTABLE=$python" "-DPython3_EXECUTABLE=$python" >&2
}

# Programs, libraries, robots, the Python package and pytest, and shared libraries that a machine with a C++ run time
# may lack.
gather_programs() {
  local to=$1 name file
  mkdir -p "$to"/{bin,lib,python}
  cp -R "$root/host/robots" "$to/robots" && rm -f "$to"/robots/*.{cpp,h}
  cp "$build"/bin/{test_device,gpu_{specialised,ceilings},bench_peer_featherstorm} "$to/bin/"
  cp "$build"/lib/libfeatherstorm_cpu_*.so "$to/lib/"
  if ((fake_cuda)); then
    cp "$build"/lib/fake_cuda/lib{featherstorm_cuda,nvrtc}.so "$to/lib/"
  else
    cp "$build/lib/libfeatherstorm_cuda.so" "$to/lib/"
    fetch "$to/python" pytest pluggy iniconfig packaging pygments
  fi
  cp -R "$root/python/featherstorm" "$to/python/"
  find "$build/python" "$build/lib" -maxdepth 1 -name '_featherstorm*.so' -exec cp {} "$to/python/featherstorm/" \;
  strip --strip-unneeded "$to"/bin/* "$to"/lib/*.so "$to"/python/featherstorm/*.so 2>/dev/null || true
  while read -r name file; do cp "$file" "$to/lib/$name"; done < <(
    find "$to/bin" "$to/lib" "$to/python/featherstorm" -type f -perm -u+x -exec ldd {} + 2>/dev/null |
      awk '$2 == "=>" && $3 ~ /^\// && $1 !~ /^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|cuda)\.|ld-)/ { print $1, $3 }' |
      sort -u)
}

# Kernels of robots that are timed, for the cache: the same compiler finds them there. Others are made on the GPU
# machine.
compile_kernels() {
  local architecture
  mkdir -p "$1/cache" && chmod 700 "$1/cache"
  for architecture in ${architectures//,/ }; do
    FEATHERSTORM_CACHE=$1/cache FEATHERSTORM_BACKENDS=$1/lib FEATHERSTORM_ROBOTS=$1/robots \
      "$1/bin/gpu_specialised" compile "${architecture#sm_}" >"$build/compile_specialised.txt" 2>&1 ||
      echo "gpu_specialised compile ${architecture#sm_} failed: $(tail -1 "$build/compile_specialised.txt")" >&2
  done
}

# fetch FOLDER PACKAGE...: wheels for Python 3.12 of Linux, without what they need besides
fetch() {
  local platform platforms=()
  for platform in manylinux_2_{39,35,34,31,28,27,24,17}_x86_64 manylinux2014_x86_64 manylinux1_x86_64; do
    platforms+=(--platform "$platform")
  done
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --only-binary=:all: \
    --target "$1" --implementation cp --python-version 3.12 "${platforms[@]}" "${@:2}" >&2
}

# The peers, without tests and examples; of packages of tasks the model files alone.
fetch_peers() {
  local to=$1 core name
  fetch "$to.mujoco" mujoco
  # its library is a package of its own, of one version
  core=$(sed -n 's/^Requires-Dist: \(mujoco-core *==[^ ;]*\).*/\1/p' "$to.mujoco"/mujoco-*.dist-info/METADATA)
  fetch "$to" warp-lang mujoco-warp mujoco mujoco-mjx trimesh ${core:+"$core"}
  fetch "$to.models" gymnasium mjlab
  for name in gymnasium mjlab; do # without what their Python code imports: it is found, not imported
    (cd "$to.models" && find "$name" -name '*.xml' && echo "$name/__init__.py") |
      tar -C "$to.models" -c -T - | tar -C "$to" -x
  done
  rm -rf "$to.models" "$to.mujoco" "$to"/warp/{tests,examples} "$to"/mujoco/mjx/test_data "$to"/*/tests "${to:?}/bin"
}
