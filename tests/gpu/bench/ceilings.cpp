// Measures the limits of a GPU; each is a line of the report (bench_report.h).
//
//   ceilings/memory/...        reading, writing and copying in memory and in the L2, of bits without a pattern: 16
//                              bytes a thread, and 4 bytes a thread in 74 arrays with the paddings of batches
//   ceilings/arithmetic/...    multiply-adds and special functions by warps a scheduler has
//   ceilings/launch/...        what a launch costs on a stream, in a graph, and until the host knows that it is done
//
//   gpu_ceilings [--seconds N]      gpu_ceilings quick    small, for a test without a GPU
#include "tests/gpu/timing/bench_report.h"
#include "tests/gpu/timing/machine.h"
#include "tests/gpu/timing/options.h"

namespace featherstorm::testing {
namespace {

struct Ceilings {
  const Options& o;
  Report report;
  Budget budget;
  DeviceStream stream{0};
  Stopwatch watch;
  explicit Ceilings(const Options& o)
      : o(o), budget(o.seconds), watch(stream.get(), o.quick ? TimingOptions::quick() : TimingOptions{}) {}

  // One case, where it fits into the time.
  template <class F>
  void line(const std::string& what, const F& measure) {
    if (!budget.fits(0.3, what)) return;
    report.attempt(what, [&] {
      ReportRow r;
      r.what = what;
      measure(r);
      report.row(r);
    });
  }
  static float* floats(const Buffer& b) { return b.component<float>(0); }
  Buffer random(long numbers) {
    Buffer b(Precision::float32, numbers, 1, 0, stream.get());
    RandomBits().fill(b, 7, stream.get());
    return b;
  }
  Time timed(const Stopwatch::Work& launch) {
    launch(stream.get());
    return watch.in_graph(launch);
  }
  // The first numbers of a buffer.
  std::vector<float> head(const Buffer& b, long n) {
    std::vector<float> x(n);
    succeed(device_table().copy(CopyKind::to_host, stream.get(), x.data(), 4 * n, floats(b), 4 * n, 4 * n, 1));
    synchronise(0, stream.get());
    return x;
  }
  // Instance i of all components.
  std::vector<float> column(const Buffer& b, long stride, long components, long i) {
    std::vector<float> x(components);
    succeed(
        device_table().copy(CopyKind::to_host, stream.get(), x.data(), 4, floats(b) + i, 4 * stride, 4, components));
    synchronise(0, stream.get());
    return x;
  }
  static void compare(ReportRow& r, bool same) { r.result = same ? "same" : "DIFFERENT"; }

  // Arrays of so many bytes.
  void memory(long bytes) {
    const std::string name = "ceilings/memory/" + std::to_string(bytes >> 10) + " KiB/";
    const Buffer from = random(bytes / 4), to = random(bytes / 4);
    const void* a = floats(from);
    void* b = floats(to);
    const auto rate = [&](ReportRow& r, double moved) {
      r.instances = bytes / 16, r.bytes = moved, r.in_cache = 2.0 * bytes <= cache_bytes(device_info()),
      r.figure = moved * r.instances / r.time.median * 1e-9;
      r.unit = "GB/s";
    };
    line(name + "copy", [&](ReportRow& r) {
      const SmallKernel k(copy_parameters, copy_body);
      r.time = timed([&](void* s) { k.launch(bytes / 16, 256, s, a, b); }), r.kernel = k.info();
      compare(r, head(from, 1000) == head(to, 1000)), rate(r, 32);
    });
    line(name + "read", [&](ReportRow& r) {  // writes what never comes, so that nothing is left out
      const SmallKernel k(
          "const Sixteen* from, unsigned* to",
          "  const Sixteen x = from[i];\n  if ((x.x[0] & x.x[1] & x.x[2] & x.x[3] & 0x40000000u) != 0) to[0] = 1;\n");
      r.time = timed([&](void* s) { k.launch(bytes / 16, 256, s, a, b); }), r.kernel = k.info(), rate(r, 16);
    });
    line(name + "write", [&](ReportRow& r) {
      const SmallKernel k("Sixteen* to",
                          "  const unsigned x = unsigned(i) * 0x9E3779B9u;\n  to[i] = {{x, x + 1, x + 2, x + 3}};\n");
      r.time = timed([&](void* s) { k.launch(bytes / 16, 256, s, b); }), r.kernel = k.info(), rate(r, 16);
    });
  }

  // What a kernel of go2's inverse dynamics moves: 56 arrays are read, 18 written, 4 bytes a thread, components
  // `stride` numbers apart.
  void streams(long count, long pad) {
    line("ceilings/memory/74 streams/B=" + std::to_string(count) + " stride B+" + std::to_string(pad),
         [&](ReportRow& r) {
           const SmallKernel k(
               "const float* from, float* to, long stride",
               "  float x[56], sum = 0;\n#pragma unroll\n  for (int c = 0; c < 56; c++) x[c] = from[c * stride + i];\n"
               "#pragma unroll\n  for (int c = 0; c < 56; c++) sum += x[c];\n"
               "#pragma unroll\n  for (int c = 0; c < 18; c++) to[c * stride + i] = sum + float(c);\n");
           const long stride = count + pad;
           const Buffer from = random(56 * stride), to = random(18 * stride);
           const float* a = floats(from);
           float* b = floats(to);
           r.time = timed([&](void* s) { k.launch(count, 64, s, a, b, stride); }), r.kernel = k.info();
           bool same = true;
           for (long i : {0L, count / 2, count - 1}) {
             double sum = 0;
             for (float x : column(from, stride, 56, i)) sum += x;
             for (float y : column(to, stride, 18, i)) same = same && std::abs(y - sum++) < 1e-3;
           }
           compare(r, same);
           r.instances = count, r.bytes = 4 * 74, r.in_cache = 4.0 * 74 * count <= cache_bytes(device_info());
           r.figure = r.bytes * count / r.time.median * 1e-9, r.unit = "GB/s";
         });
  }

  // `chains` independent values a thread, `steps` times `one`, by so many warps on each scheduler.
  void arithmetic(const std::string& name, const std::string& one, int chains, int warps, int per_step) {
    line("ceilings/arithmetic/" + name + "/" + std::to_string(chains) + " chains/" + std::to_string(warps) +
             " warps a scheduler",
         [&](ReportRow& r) {
           const std::string n = std::to_string(chains);
           const SmallKernel k(
               "float* out, float a, long repeat",
               "  float x[" + n + "];\n#pragma unroll\n  for (int k = 0; k < " + n +
                   "; k++) x[k] = a + 0.001f * float(i + k);\n"
                   "  for (long r = 0; r < repeat; r++) {\n#pragma unroll\n    for (int u = 0; u < 16; u++)\n"
                   "#pragma unroll\n      for (int k = 0; k < " +
                   n + "; k++) { " + one +
                   " }\n  }\n"
                   "  float sum = 0;\n#pragma unroll\n  for (int k = 0; k < " +
                   n + "; k++) sum += x[k];\n  out[i] = sum;\n");
           const long threads = 128L * warps * device_info().multiprocessors,
                      repeat = o.quick ? 2 : 6400 / chains / per_step;
           const Buffer out(Precision::float32, threads, 1, 0, stream.get());
           float* to = floats(out);
           r.time = timed([&](void* s) { k.launch(threads, 128 * warps, s, to, 0.999f, repeat); }), r.kernel = k.info();
           for (float x : head(out, 32))
             if (!std::isfinite(x)) throw std::runtime_error("a result is not finite");
           r.instances = threads, r.figure = 16.0 * chains * repeat * threads / r.time.median * 1e-12,
           r.unit = "1e12/s";
         });
  }

  void launches() {
    const SmallKernel k("float* out", "  if (i < 0) out[0] = 1;\n");
    const Buffer out = random(64);
    float* to = floats(out);
    const auto launch = [&](void* s) { k.launch(32, 32, s, to); };
    launch(stream.get());
    const auto figure = [&](ReportRow& r) { r.figure = r.time.median * 1e6, r.unit = "us a launch"; };
    line("ceilings/launch/on a stream", [&](ReportRow& r) { r.time = watch.on_stream(launch), figure(r); });
    line("ceilings/launch/in a graph", [&](ReportRow& r) { r.time = watch.in_graph(launch), figure(r); });
    line("ceilings/launch/graphs of one launch", [&](ReportRow& r) {
      const DeviceGraph graph(0, stream.get(), [&] { launch(stream.get()); });
      r.time = watch.on_stream([&](void* s) { graph.launch(s); }), figure(r);
    });
    line("ceilings/launch/until the host knows", [&](ReportRow& r) {
      std::vector<double> s;
      for (int n = 0; n < (o.quick ? 3 : 1001); n++) {
        const auto start = std::chrono::steady_clock::now();
        launch(stream.get());
        synchronise(0, stream.get());
        s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
      std::sort(s.begin(), s.end());
      r.time = {s[s.size() / 2], s.front(), s.back(), 1}, figure(r);
    });
  }

  void all() {
    const long cache = static_cast<long>(cache_bytes(device_info()));
    memory(o.quick ? 1 << 16 : 1L << 28);
    memory(o.quick ? 1 << 14 : cache / 5 / 4096 * 4096);
    for (long count : o.quick ? std::vector<long>{256} : std::vector<long>{65536, 1 << 20})
      for (long pad : {0, 16, 32}) streams(count, pad);
    const std::string special =
        "\n#ifdef __CUDA_ARCH__\n asm(\"rsqrt.approx.ftz.f32 %0, %0;\" : \"+f\"(x[k]));\n#else\n x[k] = 1 / (1 + x[k] "
        "* x[k]);\n#endif\n";
    for (int warps : o.quick ? std::vector<int>{1} : std::vector<int>{1, 2, 3, 4})
      for (int chains : {2, 16}) arithmetic("multiply-add", "x[k] = x[k] * a + 0.25f;", chains, warps, 1);
    for (int warps : o.quick ? std::vector<int>{1} : std::vector<int>{1, 4})
      arithmetic("special function", special, 16, warps, 4);
    launches();
  }
};

int run(const Options& o) {
  Ceilings c(o);
  c.report.head();
  std::printf("# %s, %d multiprocessors, memory clock %d MHz\n", device_info().name, device_info().multiprocessors,
              c.watch.clocks().memory());
  c.report.attempt("ceilings", [&] { c.all(); });
  return c.report.end(c.budget);
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  return featherstorm::testing::run(featherstorm::testing::Options(argc, argv));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
