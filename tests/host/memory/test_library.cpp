#include "host/memory/cpu_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "host/memory/cuda_table.h"
#include "host/robots/robots.h"
#include "host/system/error.h"
#include "host/system/installation.h"
#include "host/table/ops.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_library {
namespace {

void run(const void*, const Array*, const Array*, long, long, long) {}

// Libraries of two rows: the widest has the first, as the base set's has; the books' has the second.
const KernelEntry none{"second", nullptr, nullptr};
const KernelEntry wide_entries[]{{"first", run, run}, none}, base_entries[]{{"first", run, run}, none};
const KernelEntry book_entries[]{{"first", nullptr, nullptr}, {"second", run, run}};
const KernelTable wide{"avx2", 8, 4, 2, wide_entries}, base{"base", 4, 2, 2, base_entries},
    book{"book", 4, 2, 2, book_entries};

const KernelTable* all(const std::string& name) { return name == "base" ? &base : name == "book" ? &book : nullptr; }

TEST(TableOfRow, IsTheFirstThatHasTheRow) {
  EXPECT_EQ(&table_of_row(0, "first", &wide, all), &wide);
  EXPECT_EQ(&table_of_row(0, "first", nullptr, all), &base);
  EXPECT_EQ(&table_of_row(1, "second", &wide, all), &book);
}

TEST(TableOfRow, NamesTheLibraryThatIsMissingAndWhatBuildsIt) {
  const auto without_book = [](const std::string& name) { return name == "base" ? &base : nullptr; };
  const auto nothing = [](const std::string&) -> const KernelTable* { return nullptr; };
  const auto message = [](int op, const auto& find) {
    return testing::message([&] { table_of_row(op, "the_row", nullptr, find); });
  };
  EXPECT_EQ(
      message(1, without_book),
      "the_row: the library of CPU kernels libfeatherstorm_cpu_book.so was not found; the target featherstorm_cpu_book, or "
      "`./featherstorm setup`, builds it");
  EXPECT_NE(message(0, nothing).find("libfeatherstorm_cpu_base.so was not found"), std::string::npos);
}

TEST(TableOfRow, EveryRowHasOne) {
  for (int op = 0; op < op_count; op++) {
    const KernelTable& table = table_of_row(op, "row " + std::to_string(op));
    EXPECT_EQ(table.name, std::string(cpu_part(op) <= 4 ? "base" : "book")) << table.entries[op].op;
    EXPECT_NE(table.entries[op].in_float, nullptr) << table.entries[op].op;
  }
}

// The rows that a first `featherstorm simulate` may take (the launcher builds no library of the books for it).
TEST(TableOfRow, StepsOfWhatAModelCarriesAreInTheBaseLibrary) {
  for (const std::string row : {"step", "contact_step", "soft_contact_step", "coupled_step", "loop_step"}) {
    bool found = false;
    const KernelTable& table = *cpu_kernels("base");
    for (int op = 0; op < op_count; op++) found = found || (table.entries[op].op && table.entries[op].op == row);
    EXPECT_TRUE(found) << row;
  }
}

TEST(Libraries, OfAnotherBuildAreRefused) {
  std::optional<test::Environment> other(std::in_place, "FEATHERSTORM_BACKENDS", FEATHERSTORM_OTHER_BUILD);
  const std::string told = testing::message([] { cpu_kernels("other_build"); });
  other.reset();
  EXPECT_NE(told.find("libfeatherstorm_cpu_other_build.so was built from another version"), std::string::npos) << told;
  constexpr long others[2] = {1, 2};
  EXPECT_THROW(cpu_solver("base", SolverAlgorithm::solution, others), Error);
  EXPECT_EQ(cpu_kernels("no_such_library"), nullptr);
}

TEST(Installation, IsLookedIntoBesideThisProgram) {
  const auto before = installation_folders();
  ASSERT_FALSE(before.empty());
  EXPECT_TRUE(set_installation_folder("/no/such/installation"));
  const auto after = installation_folders();
  EXPECT_EQ(after.back(), "/no/such/installation");
  EXPECT_EQ(after.front(), before.front());
  const auto backends = backend_folders();
  EXPECT_NE(std::find(backends.begin(), backends.end(), after.back()), backends.end());
  EXPECT_TRUE(std::filesystem::exists(robot_file("go2")));  // one without robots is passed over
  set_installation_folder("");
}

}  // namespace
}  // namespace featherstorm::test_library
