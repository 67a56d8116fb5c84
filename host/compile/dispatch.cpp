#include "host/compile/dispatch.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "host/compile/device_kernel.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr const char* heading =
    "robot,op,precision,capability,per_multiprocessor,kernel,threads,order,blocks,warps,basis";
constexpr const char* own_table =
#include "host/compile/dispatch_table.inc"
    ;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (char c : line)
    if (c == ',') cells.emplace_back();
    else cells.back() += c;
  return cells;
}

bool fits(const std::string& cell, std::string_view value) { return cell == "*" || cell == value; }

DispatchRow row_of(const std::string& line, const std::string& where) {
  const std::vector<std::string> c = cells_of(line);
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw Error(where + ": expected " + what + ", got '" + line + "'");
  };
  require(c.size() == 11, std::string("eleven cells, ") + heading);
  const auto number = [&](int cell) {
    char* end = nullptr;
    const long n = std::strtol(c[cell].c_str(), &end, 10);
    require(!c[cell].empty() && *end == 0 && n >= 0 && n <= 1 << 30, "a number in cell " + std::to_string(cell + 1));
    return n;
  };
  require(c[2] == "*" || c[2] == "float32" || c[2] == "float64", "float32, float64 or * as precision");
  if (c[3] != "*") number(3);
  require(c[5] == "specialised" || c[5] == "run-time", "specialised or run-time as kernel");
  require(c[6] == "32" || c[6] == "64", "32 or 64 threads");
  require(c[7].empty() || c[7] == "trace" || c[7] == "greedy" || c[7] == "sethi_ullman",
          "trace, greedy, sethi_ullman or nothing as order");
  require(number(8) <= 32, "at most 32 blocks");
  require(number(9) >= 1 && number(9) <= max_device_roles, "1 to " + std::to_string(max_device_roles) + " warps");
  require(number(9) == 1 || c[6] == "32", "32 threads where there are several warps");
  require(c[10] == "count" || c[10] == "measured", "count or measured as basis");
  return {c[0],
          c[1],
          c[2],
          c[3],
          number(4),
          c[5] == "specialised",
          static_cast<int>(number(6)),
          c[7],
          static_cast<int>(number(8)),
          static_cast<int>(number(9)),
          c[10]};
}

}  // namespace

Dispatch::Dispatch(const std::string& rows) {
  add(own_table, "dispatch table");
  add(rows, "dispatch rows");
}

void Dispatch::add(const std::string& table, const std::string& where) {
  std::istringstream lines(table);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    number++;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line[0] == '#' || line == heading) continue;
    rows_.push_back(row_of(line, where + ", line " + std::to_string(number)));
  }
}

Dispatch Dispatch::standard() {
  const char* path = std::getenv("FEATHERSTORM_DISPATCH");
  if (!path || !*path) return Dispatch("");
  std::ifstream file(path);
  if (!file) throw Error("FEATHERSTORM_DISPATCH: cannot read " + std::string(path));
  std::ostringstream text;
  text << file.rdbuf();
  return Dispatch(text.str());
}

const DispatchRow& Dispatch::choose(const DispatchCall& call) const {
  const std::string_view precision = call.precision == Precision::float32 ? "float32" : "float64";
  const std::string capability = std::to_string(call.capability);
  for (std::size_t k = rows_.size(); k-- > 1;) {
    const DispatchRow& r = rows_[k];
    if (fits(r.robot, call.robot) && fits(r.op, call.op) && fits(r.precision, precision) &&
        fits(r.capability, capability) && static_cast<double>(r.per_multiprocessor) <= call.per_multiprocessor)
      return r;
  }
  return rows_.front();  // matches everything
}

std::vector<const DispatchRow*> Dispatch::forms(const DispatchCall& call) const {
  std::set<long> sizes;  // the choice changes only at these sizes
  for (const DispatchRow& r : rows_) sizes.insert(r.per_multiprocessor);
  std::vector<const DispatchRow*> found;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    DispatchCall at = call;
    at.per_multiprocessor = static_cast<double>(*size);
    const DispatchRow& row = choose(at);
    if (row.specialised && std::none_of(found.begin(), found.end(), [&](auto* r) { return r->warps == row.warps; }))
      found.push_back(&row);
  }
  return found;
}

}  // namespace featherstorm
