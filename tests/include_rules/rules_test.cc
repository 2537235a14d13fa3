#include "include_rules/rules.h"

#include <fstream>

#include "support/catch.h"

namespace attnmap::test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ATTNMAP_SOURCE_DIR;

Rules ProjectRules() { return ReadRules(kSource / "docs" / "architecture.md"); }

// A copy of include/ and src/ to spoil.
class CopiedTree {
 public:
  CopiedTree() : root_(fs::path(ATTNMAP_BINARY_DIR) / "Testing" / "planted-include") {
    fs::remove_all(root_);
    fs::create_directories(root_);
    for (const char* folder : {"include", "src"}) {
      fs::copy(kSource / folder, root_ / folder, fs::copy_options::recursive);
    }
  }
  const fs::path& root() const { return root_; }
  ~CopiedTree() { fs::remove_all(root_); }
  CopiedTree(const CopiedTree&) = delete;
  CopiedTree& operator=(const CopiedTree&) = delete;

  // Violations after a file with this one include line was added.
  std::vector<std::string> WithPlanted(const std::string& file, const std::string& include) const {
    const fs::path path = root_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#include " << include << "\n";
    const auto violations = FindViolations(root_, ProjectRules());
    fs::remove(path);
    return violations;
  }

 private:
  fs::path root_;
};

TEST_CASE("the include lines keep to the tables of docs/architecture.md", "[tree]") {
  const Rules rules = ProjectRules();
  REQUIRE(rules.rooms.size() >= 12);
  REQUIRE(rules.rooms.at("core").empty());
  REQUIRE(rules.outside.size() >= 10);
  for (const std::string& violation : FindViolations(kSource, rules)) {
    FAIL_CHECK(violation);
  }
}

TEST_CASE("tests include Catch2 through support/catch.h only", "[tree]") {
  for (const std::string& place : FindDirectCatchIncludes(kSource)) FAIL_CHECK(place);
}

TEST_CASE("a planted include that breaks the tables is found", "[planted]") {
  struct Planted {
    const char* file;
    const char* include;
    const char* message;
  };
  const Planted planted[] = {
      {"src/core/zz_planted.cc", "\"attnmap/model/vit_model.h\"", "core may not include model"},
      {"src/encoder/zz_planted.cc", "\"attnmap/image/decode.h\"", "encoder may not include image"},
      {"src/render/zz_planted.cc", "\"attnmap/encoder/encoder.h\"",
       "render may not include encoder"},
      {"src/formats/zz_planted.cc", "\"attnmap/weights/weight_source.h\"",
       "formats may not include weights"},
      {"src/cli/zz_planted.cc", "\"attnmap/encoder/encoder.h\"", "cli may not include encoder"},
      {"src/model/families/zz_planted.cc", "\"attnmap/encoder/encoder.h\"",
       "model may not include encoder"},
      {"include/attnmap/analysis/zz_planted.h", "\"attnmap/render/picture.h\"",
       "analysis may not include render"},
      {"include/attnmap/core/zz_planted.h", "\"core/private.h\"", "a public header includes"},
      {"src/analysis/zz_planted.cc", "\"ops/private.h\"", "is private to ops"},
      {"src/core/zz_planted.cc", "\"zz_planted.h\"", "does not name its room"},
      {"src/attic/zz_planted.cc", "<vector>", "no room \"attic\""},
      {"src/encoder/zz_planted.cc", "<opencv2/core.hpp>", "does not belong here"},
      {"src/pipeline/zz_planted.cc", "<CLI/CLI.hpp>", "does not belong here"},
      {"src/image/zz_planted.cc", "<opencv2/core.hpp>", "does not belong here"},
      {"include/attnmap/formats/zz_planted.h", "<nlohmann/json.hpp>", "in a public header"},
      {"src/ops/zz_planted.cc", "<cblas.h>", "is not in the table of outside headers"},
      {"src/analysis/zz_planted.cc", "<iostream>", "does not belong here"},
  };
  const CopiedTree tree;
  const size_t before = FindViolations(tree.root(), ProjectRules()).size();
  for (const Planted& one : planted) {
    INFO(one.file << " #include " << one.include);
    const auto violations = tree.WithPlanted(one.file, one.include);
    CHECK(violations.size() == before + 1);
    bool found = false;
    for (const std::string& violation : violations) {
      found = found || (violation.find(one.file) != std::string::npos &&
                        violation.find(one.message) != std::string::npos);
    }
    CHECK(found);
  }
}

TEST_CASE("a second file with what belongs in one is found", "[planted]") {
  const fs::path root = fs::path(ATTNMAP_BINARY_DIR) / "Testing" / "two-files";
  fs::create_directories(root / "src" / "ops");
  for (const char* name : {"a.cc", "b.cc"}) {
    std::ofstream(root / "src" / "ops" / name) << "#include <immintrin.h>\n";
  }
  const auto violations = FindViolations(root, ProjectRules());
  fs::remove_all(root);
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].find("included by src/ops/a.cc src/ops/b.cc") != std::string::npos);
}

}  // namespace
}  // namespace attnmap::test
