#ifndef ATTNMAP_TESTS_FORMATS_ARCHIVES_H_
#define ATTNMAP_TESTS_FORMATS_ARCHIVES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/archive.h"
#include "support/catch.h"

namespace attnmap::test {

inline void Has(const std::string& text, std::string_view part) {
  INFO(text << " | expected: " << part);
  CHECK(text.find(part) != std::string::npos);
}

inline std::vector<float> Values(const SharedTensor& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

// What opening an archive and loading all it holds says: one line that starts with the file's name.
// "no error" where nothing is said.
template <typename Open>
std::string ArchiveError(const std::string& name, const Open& open) {
  try {
    const std::unique_ptr<TensorArchive> archive = open();
    for (size_t i = 0; i < archive->tensors().size(); ++i) archive->Load(i);
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK(what.starts_with(name + ": "));
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  return "no error";
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_FORMATS_ARCHIVES_H_
