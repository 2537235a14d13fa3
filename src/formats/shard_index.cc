#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "attnmap/core/error.h"
#include "attnmap/formats/sniff.h"
#include "formats/json_events.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr size_t kMaxBytes = 100'000'000;
constexpr size_t kMaxIndexTensors = 1'000'000;
constexpr size_t kMaxShards = 10'000;
constexpr size_t kMaxIndexName = 4096;
constexpr int kMaxIndexDepth = 64;

// Whether a name can only mean a file in the folder itself.
bool IsPlainFileName(std::string_view name) {
  constexpr std::string_view kForbidden("/\\:\0", 4);
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find_first_of(kForbidden) == name.npos && IsPlainText(name);
}

// {"metadata": anything, "weight_map": {TENSOR: FILE, ...}}.
class IndexReader : public JsonEvents {
 public:
  IndexReader(const std::string& path, const JsonCursor& cursor) : path_(path), cursor_(cursor) {}

  ShardIndex Take() {
    if (!map_seen_) throw Error(path_ + ": missing key 'weight_map'");
    if (index_.entries.empty()) throw Error(path_ + ": weight_map is empty");
    return std::move(index_);
  }

  void Null() override { Scalar("null"); }
  void Boolean(bool /*value*/) override { Scalar("true or false"); }
  void Integer(int64_t /*value*/) override { Scalar("a number"); }
  void Unsigned(uint64_t /*value*/) override { Scalar("a number"); }
  void Float(std::string_view /*text*/) override { Scalar("a number"); }
  void String(const std::string& value) override;
  void StartObject() override;
  void Key(const std::string& key) override;
  void EndObject() override { --depth_; }
  void StartArray(JsonCursor& /*cursor*/) override {
    Scalar("a list");
    Deeper();
  }
  void EndArray() override { --depth_; }
  [[noreturn]] void Malformed(const std::string& reason, bool cut_short) override {
    Fail(cut_short ? "the file is cut short" : "not JSON: " + reason);
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw Error(path_ + ": " + what + " (" + cursor_.LineColumn() + ")");
  }
  bool InMap() const { return depth_ == 2 && root_key_ == "weight_map"; }
  void Scalar(const std::string& found) const {
    if (depth_ == 0) Fail("expected an object, found " + found);
    if (depth_ == 1 && root_key_ == "weight_map") {
      Fail("weight_map: expected an object, found " + found);
    }
    if (InMap()) {
      Fail("weight_map: expected a file name for " + Shown(tensor_) + ", found " + found);
    }
  }
  void Deeper() {
    if (++depth_ > kMaxIndexDepth) Fail("nested more than 64 deep");
  }

  const std::string& path_;
  const JsonCursor& cursor_;
  ShardIndex index_;
  int depth_ = 0;
  std::string root_key_;
  std::unordered_set<std::string> root_keys_;
  std::string tensor_;
  std::unordered_set<std::string> tensors_;
  std::unordered_map<std::string, size_t> shards_;
  bool map_seen_ = false;
};

void IndexReader::StartObject() {
  if (InMap()) Scalar("an object");
  Deeper();
  if (InMap()) map_seen_ = true;
}

void IndexReader::Key(const std::string& key) {
  if (depth_ == 1) {
    root_key_ = key;
    if (!root_keys_.insert(key).second) Fail("the key " + Shown(key) + " is there twice");
  } else if (InMap()) {
    tensor_ = key;
    if (key.size() > kMaxIndexName) Fail("a name of more than 4096 bytes");
    if (tensors_.size() == kMaxIndexTensors) Fail("more than a million tensors");
    if (!tensors_.insert(key).second) Fail("the tensor " + Shown(key) + " is there twice");
  }
}

void IndexReader::String(const std::string& value) {
  if (!InMap()) return Scalar("a text");
  if (!IsPlainFileName(value)) {
    Fail("weight_map: the file " + Shown(value) + " of tensor " + Shown(tensor_) +
         " is no plain name of a file in the same folder");
  }
  const auto [found, added] = shards_.emplace(value, index_.shards.size());
  if (added) {
    if (index_.shards.size() == kMaxShards) Fail("more than 10000 files");
    index_.shards.push_back(value);
  }
  index_.entries.push_back({tensor_, found->second});
}

}  // namespace

ShardIndex ReadShardIndex(const MappedFile& file) {
  const auto bytes = file.bytes();
  if (bytes.size() > kMaxBytes) {
    throw Error(file.path() + ": an index of " + std::to_string(bytes.size()) +
                " bytes, the most is " + std::to_string(kMaxBytes));
  }
  JsonCursor cursor({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  IndexReader reader(file.path(), cursor);
  ParseJson(cursor, reader);
  return reader.Take();
}

}  // namespace attnmap
