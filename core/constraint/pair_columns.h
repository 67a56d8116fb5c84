// Coordinates that move two bodies relative to each other: those of the joints on the path between the bodies.
#pragma once
#include <algorithm>
#include <vector>

namespace featherstorm {

struct PathColumn {
  int v = 0;           // coordinate
  int body = 0;        // body whose joint has the coordinate
  bool first = false;  // true if the coordinate moves the first of the two bodies
};

// Returns the coordinates of a pair, in ascending order.
inline std::vector<PathColumn> pair_columns(const auto& m, int a, int b) {
  std::vector<PathColumn> columns;
  const auto add = [&](int& body, bool first) {
    const int end = body == m.nb ? m.nv : m.body[body + 1].v;
    for (int v = m.body[body].v; v < end; v++) columns.push_back({v, body, first});
    body = m.body[body].parent;
  };
  while (a != b) {
    if (a > b) add(a, true);
    else add(b, false);
  }
  std::sort(columns.begin(), columns.end(), [](const PathColumn& x, const PathColumn& y) { return x.v < y.v; });
  return columns;
}

// The coordinates of all pairs of a world.
struct PairColumns {
  std::vector<PathColumn> column;
  std::vector<int> start;  // (pairs + 1)
  PairColumns() = default;
  PairColumns(const auto& m, const auto& contacts) {
    for (const auto& pair : contacts.pair) {
      start.push_back(static_cast<int>(column.size()));
      const auto of = pair_columns(m, contacts.geom[pair.geom[0]].place.body, contacts.geom[pair.geom[1]].place.body);
      column.insert(column.end(), of.begin(), of.end());
    }
    start.push_back(static_cast<int>(column.size()));
  }
  int columns(int pair) const { return start[pair + 1] - start[pair]; }
  // Returns the number of entries of the Jacobians of all candidates.
  int entries(const auto& contacts) const {
    int n = 0;
    for (std::size_t i = 0; i < contacts.pair.size(); i++)
      n += contacts.pair[i].slots * contacts.pair[i].dimension * columns(static_cast<int>(i));
    return n;
  }
};

}  // namespace featherstorm
