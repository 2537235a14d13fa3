#ifndef ATTNMAP_TESTS_SUPPORT_SHARED_H_
#define ATTNMAP_TESTS_SUPPORT_SHARED_H_

#include <filesystem>
#include <optional>
#include <string_view>

namespace attnmap::test {

// A folder of the reference data that lies beside a checkout (../shared), such
// as "golden", "corpus/png" or "models". Where it is missing, says so (Catch's
// WARN, in the line "skipped: ... is missing") and returns nothing: the test
// then returns. With ATTNMAP_REQUIRE_SHARED=1 in the environment a missing
// folder fails the test instead.
//
//   const auto golden = SharedFolder("golden");
//   if (!golden) return;
std::optional<std::filesystem::path> SharedFolder(std::string_view name);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_SHARED_H_
