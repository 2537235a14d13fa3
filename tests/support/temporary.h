#ifndef ATTNMAP_TESTS_SUPPORT_TEMPORARY_H_
#define ATTNMAP_TESTS_SUPPORT_TEMPORARY_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace attnmap::test {

// A new, empty folder, removed with all that is in it at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  // A file of that text; gives its path.
  std::string Write(std::string_view name, std::string_view text) const;
  // Names of the files in it, sorted, one space between.
  std::string List() const;

 private:
  std::filesystem::path path_;
};

// Throws where there is none.
std::string ReadText(const std::filesystem::path& path);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_TEMPORARY_H_
