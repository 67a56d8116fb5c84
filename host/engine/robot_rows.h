// The operations of the table with the sizes for one robot, and their derivatives.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/builder.h"
#include "host/trace/parameters.h"
#include "host/trace/row.h"

namespace featherstorm {

class RobotRows {
 public:
  RobotRows(const Model<double>& m, const Parameters& parameters);
  RobotRows(const RobotRows&) = delete;
  RobotRows& operator=(const RobotRows&) = delete;

  const std::vector<OpRow>& all() const { return rows_; }
  // An operation of the table or one of its derivatives, NAME_vjp and NAME_jvp. Throws Error for an unknown name.
  const OpRow& find(std::string_view name) const;

 private:
  std::vector<OpRow> rows_, derivatives_;
  std::unordered_map<std::string_view, const OpRow*> by_name_;
  std::deque<std::string> names_;  // names of the derivatives and their arrays
};

}  // namespace featherstorm
