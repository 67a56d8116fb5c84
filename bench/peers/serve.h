// How peers.py drives a library: a program per library, told by lines on standard input what to do next, so that one
// repetition of one library follows one of another, each compiled as its makers recommend.
//
//   PROGRAM MODEL STATES     STATES: N nq nv as int64, then as double q (N, nq), v (N, nv), a (N, nv), tau (N, nv)
//   answer OP FILE           writes the results of all states to FILE, (N, size) double; replies "size"
//   time OP SECONDS          evaluates all states again and again for that long; replies nanoseconds per evaluation
//   latency OP CALLS         evaluates all states so many times; replies the wall-clock nanoseconds below which 50, 99 and 99.9 % of
//                            the calls stay
//   clock - SECONDS          replies the clock rate in GHz, and additions a cycle: 1, less where another program uses the core's other thread
//
// Other times are processor time of the thread: what else runs on the machine is not counted.
#pragma once
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace peers {

// Random states in the conventions of the library.
struct States {
  long count = 0, nq = 0, nv = 0;
  std::vector<double> q, v, a, tau;
};

inline States read_states(const char* path) {
  std::ifstream file(path, std::ios::binary);
  States s;
  long sizes[3] = {};
  file.read(reinterpret_cast<char*>(sizes), sizeof sizes);
  s.count = sizes[0], s.nq = sizes[1], s.nv = sizes[2];
  auto read = [&](std::vector<double>& x, long n) {
    x.resize(s.count * n);
    file.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(double)));
  };
  read(s.q, s.nq), read(s.v, s.nv), read(s.a, s.nv), read(s.tau, s.nv);
  if (!file) {
    std::fprintf(stderr, "%s holds no states\n", path);
    std::exit(1);
  }
  return s;
}

struct Op {
  long size = 0;                                  // results per state
  std::function<void()> pass;                     // evaluates all states once
  std::function<void(long k, double* x)> answer;  // evaluates where needed and stores the results of state k
};

inline double seconds(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Calls `step` for `length` seconds; returns the number of calls per nanosecond.
template <class Step>
double rate(double length, const Step& step) {
  const double start = seconds(), end = start + length;
  long now = 0;
  double last = start;
  for (; last < end; last = seconds())
    for (long k = 0; k < 100000; k++, now++) step();
  return static_cast<double>(now) * 1e-9 / (last - start);
}
// Products that wait for each other take three cycles each on x86-64, with or without a program on the core's other thread. Additions take
// one, and up to two with such a program.
inline std::pair<double, double> clock_rate(double length) {
  long product = 1, sum = 0;
  const double clock = 3 * rate(length / 2, [&] {
                         product *= product;
                         asm volatile("" : "+r"(product));
                       });
  const double additions = rate(length / 2, [&] {
    sum++;
    asm volatile("" : "+r"(sum));
  });
  return {clock, additions / clock};
}

// find(name) returns the op, or null where the library has none of that name.
inline void serve(long count, const std::function<const Op*(const std::string&)>& find) {
  std::cout.precision(9);
  for (std::string command, name; std::cin >> command >> name;) {
    std::string argument;
    std::cin >> argument;
    if (command == "clock") {
      const auto [clock, additions] = clock_rate(std::stod(argument));
      std::cout << clock << ' ' << additions << std::endl;
      continue;
    }
    const Op* op = find(name);
    if (op == nullptr) {
      std::cout << "none" << std::endl;
    } else if (command == "answer") {
      std::vector<double> x(count * op->size);
      op->pass();
      for (long k = 0; k < count; k++) op->answer(k, x.data() + k * op->size);
      std::ofstream(argument, std::ios::binary)
          .write(reinterpret_cast<const char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(double)));
      std::cout << op->size << std::endl;
    } else if (command == "latency") {
      std::vector<double> x(std::stol(argument));
      op->pass();
      for (double& t : x) {
        const double start = seconds(CLOCK_MONOTONIC);
        op->pass();
        t = (seconds(CLOCK_MONOTONIC) - start) * 1e9;
      }
      std::sort(x.begin(), x.end());
      for (const double part : {0.5, 0.99, 0.999}) std::cout << x[static_cast<long>(part * (x.size() - 1))] << ' ';
      std::cout << std::endl;
    } else {
      op->pass();
      const double start = seconds(), end = start + std::stod(argument);
      double now = start;
      long passes = 0;
      for (; now < end; now = seconds()) op->pass(), passes++;
      std::cout << (now - start) * 1e9 / static_cast<double>(passes * count) << std::endl;
    }
  }
}

}  // namespace peers
