#include "support/shared.h"

#include <cstdlib>
#include <string>

#include "support/catch.h"

namespace attnmap::test {

std::optional<std::filesystem::path> SharedFolder(std::string_view name) {
  const std::filesystem::path folder = std::filesystem::path(ATTNMAP_SHARED) / name;
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return folder.lexically_normal();
  const char* required = std::getenv("ATTNMAP_REQUIRE_SHARED");
  const std::string message = "skipped: ../shared/" + std::string(name) + " is missing";
  if (required != nullptr && std::string_view(required) == "1") FAIL(message);
  WARN(message);
  return std::nullopt;
}

}  // namespace attnmap::test
