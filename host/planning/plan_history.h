// The plans of the last calls with their times, in memory of fixed size. One thread adds plans; any thread reads at the
// same time. Nobody waits: a reader whose plan is replaced while it reads, by the 64th plan after it, reads again.
#pragma once
#include <algorithm>
#include <atomic>
#include <vector>

namespace featherstorm {

class PlanHistory {
 public:
  // Forget all plans; these knots serve until a plan acts. The first call, before others read, allocates.
  void reset(const std::vector<double>& knots) {
    if (resets_ == 0) at_reset_.all = Numbers(knots.size() + 2);
    at_reset_.write(++resets_, 0, 0, knots);
    first_.store(count_, std::memory_order_release);
  }
  // Make the memory of the plans, before the first one is added.
  void make_memory() {
    for (long k = static_cast<long>(plans_.size()); k < most; k++) plans_.push_back({0, Numbers(at_reset_.all.size())});
  }
  // Add a plan that begins at one time and acts from another on [s].
  void add(double begins, double acts, const std::vector<double>& knots) {
    if (plans_.empty()) make_memory();
    const long number = count_ + 1;
    at(number).write(number, begins, acts, knots);
    count_.store(number, std::memory_order_release);
  }
  // Call f(begins, knots) for the last plan that acts at the time t. If no plan acts yet, call f(t, knots of reset); if
  // only plans do that are not known any more, call it for the oldest known plan. knots(i) is the
  // i-th number. f may be called more than once: the last call counts.
  void acting(double t, const auto& f) const {
    bool read = false;
    while (!read) {
      long number = count_.load(std::memory_order_acquire);
      // the plan before these is the next to be replaced
      const long reset = first_.load(std::memory_order_acquire), first = std::max(reset, number - most + 1);
      while (number > first && at(number).time(1) > t + slack) number--;
      if (number == first && first > reset) number++;  // what acts is not known any more: the oldest plan that is
      read = number > first ? at(number).read(number, [&](const Plan& p) { f(p.time(0), p); })
                            : at_reset_.read(at_reset_.number.load(), [&](const Plan& p) { f(t, p); });
    }
  }

 private:
  static constexpr long most = 64;
  static constexpr double slack = 1e-9;  // times are sums of rounded numbers [s]

  using Numbers = std::vector<std::atomic<double>>;
  // A number that is moved only before it is shared.
  struct Number : std::atomic<long> {
    Number(long n) : std::atomic<long>(n) {}
    Number(Number&& other) noexcept : std::atomic<long>(other.load()) {}
  };
  // A plan whose number is 0 while it is written. Numbers are released by the writer and acquired by readers, so that
  // who reads a new one finds a new number of the plan afterwards.
  struct Plan {
    Number number = 0;
    Numbers all{};  // begins, acts, knots
    double time(std::size_t k) const { return all[k].load(std::memory_order_acquire); }
    double operator()(long k) const { return time(static_cast<std::size_t>(k + 2)); }
    void write(long n, double begins, double acts, const std::vector<double>& knots) {
      number.store(0, std::memory_order_relaxed);
      all[0].store(begins, std::memory_order_release), all[1].store(acts, std::memory_order_release);
      for (std::size_t k = 0; k < knots.size(); k++) all[k + 2].store(knots[k], std::memory_order_release);
      number.store(n, std::memory_order_release);
    }
    bool read(long n, const auto& f) const {
      if (n == 0 || number.load(std::memory_order_acquire) != n) return false;
      f(*this);
      return number.load(std::memory_order_acquire) == n;
    }
  };
  Plan& at(long number) { return plans_[static_cast<std::size_t>(number % most)]; }
  const Plan& at(long number) const { return plans_[static_cast<std::size_t>(number % most)]; }

  Plan at_reset_;
  long resets_ = 0;
  std::vector<Plan> plans_;
  std::atomic<long> count_{0}, first_{0};  // plans so far, and at the last reset
};

}  // namespace featherstorm
