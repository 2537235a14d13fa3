// The text of JSON weights does not count as memory, and the floats only once.
#include "attnmap/formats/json_weights.h"
#include "support/catch.h"
#include "support/peak_memory.h"
#include "support/temporary.h"

namespace attnmap {
namespace {

TEST_CASE("JSON weights: peak memory is the floats, half as much again, and a little") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "w.json";
  constexpr int64_t kCount = 5'000'000;
  {
    // 12 bytes of text a number, in one tensor: the worst case for a buffer that doubles.
    const std::vector<NamedTensor> tensors = {
        {"w", SharedTensor(Tensor({kCount}, std::vector<float>(kCount, 0.12345679F)))}};
    WriteJsonWeights(path, R"({"format":"attnmap-weights","version":1,"config":{}})", tensors);
  }
  REQUIRE(std::filesystem::file_size(path) > 11 * kCount);
  // Far below 1.5 x the floats + 64 MB, which so small a text would not reach.
  const auto rise = test::PeakRise([&] { OpenJsonWeights(MappedFile::Open(path)); });
  if (rise) CHECK(*rise < kCount * 6 + (int64_t{16} << 20));
}

}  // namespace
}  // namespace attnmap
