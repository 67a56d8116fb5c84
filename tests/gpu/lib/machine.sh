# shellcheck shell=bash
# What the machine has: its GPU, its tools, NVRTC.

gpu_query() { nvidia-smi "--query-gpu=$1" --format=csv,noheader 2>/dev/null | head -1; }

# A name for the folder of results: "NVIDIA H100 80GB HBM3" is nvidia-h100-80gb-hbm3.
gpu_name() { gpu_query name | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9]/-/g'; }

# Puts CUDA's tools into PATH where they lie at their usual places.
find_tools() {
  local folder
  for folder in /usr/local/cuda/bin /opt/nvidia/nsight-compute/*; do
    if [[ -d $folder ]]; then PATH=$PATH:$folder; fi
  done
  export PATH
}

# The first NVRTC of 13, then of 12: of the toolkit, of a Python package, anywhere.
find_nvrtc() {
  local site
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null || true)
  nvrtc_in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/lib/x86_64-linux-gnu \
    ${site:+"$site"/nvidia/*/lib} ||
    timeout 20 find / -xdev -name 'libnvrtc.so.1[23]*' 2>/dev/null | sort -r | head -1
}
nvrtc_in() {
  local version folder
  for version in 13 12; do
    for folder; do
      if [[ -e $folder/libnvrtc.so.$version ]]; then
        echo "$folder/libnvrtc.so.$version"
        return
      fi
    done
  done
  return 1
}

# What is recorded with every result.
describe_machine() {
  echo "gpu $(gpu_name)"
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit --format=csv 2>&1 || true
  echo "nvcc $(nvcc --version 2>/dev/null | sed -n 's/^Cuda compilation tools, //p' || true)"
  echo "nvrtc ${FEATHERSTORM_NVRTC:-none}"
  echo "python $("$python" --version 2>&1), $(command -v "$python" || true)"
  echo "processor $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores"
  echo "date $(date -u +%Y-%m-%dT%H:%MZ)"
  grep -vE '^piece ' "$manifest"
}

# The clocks, twice a second, into a file until the script ends or stop_clocks is called.
record_clocks() {
  local fields=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,utilization.gpu more
  for more in clocks_event_reasons.active clocks_throttle_reasons.active; do
    if nvidia-smi "--query-gpu=$more" --format=csv,noheader >/dev/null 2>&1; then
      fields+=,$more
      break
    fi
  done
  nvidia-smi "--query-gpu=$fields" --format=csv,nounits -lms 500 >"$1" 2>/dev/null &
  clocks=$!
}
stop_clocks() {
  if [[ -n ${clocks:-} ]]; then kill "$clocks" 2>/dev/null || true; fi
  clocks=
}
