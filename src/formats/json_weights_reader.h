#ifndef ATTNMAP_FORMATS_JSON_WEIGHTS_READER_H_
#define ATTNMAP_FORMATS_JSON_WEIGHTS_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "attnmap/formats/archive.h"
#include "attnmap/formats/file.h"
#include "formats/float_buffer.h"
#include "formats/json_events.h"
#include "formats/json_header.h"
#include "formats/json_keys.h"
#include "formats/json_numbers.h"

namespace attnmap {

// Reads a JSON weights file of either form, event by event. Arrays of numbers
// are scanned on the spot, the rest is checked against the keys of the form
// and collected as the header. Every error names file, key and place.
class JsonWeightsReader : public JsonEvents {
 public:
  explicit JsonWeightsReader(const MappedFile& file);
  void Read();

  JsonForm form() const { return form_; }
  std::vector<TensorInfo> TakeInfos() { return std::move(infos_); }
  std::vector<SharedTensor> TakeTensors() { return std::move(tensors_); }
  std::string TakeHeader() { return header_.Take(); }

  void Null() override;
  void Boolean(bool value) override;
  void Integer(int64_t value) override;
  void Unsigned(uint64_t value) override;
  void Float(std::string_view text) override;
  void String(const std::string& value) override;
  void StartObject() override;
  void Key(const std::string& key) override;
  void EndObject() override;
  void StartArray(JsonCursor& cursor) override;
  void EndArray() override;
  [[noreturn]] void Malformed(const std::string& reason, bool cut_short) override;

 private:
  enum class Place {
    kRoot,
    kTensors,  // the object "tensors"
    kHeads,    // the list "heads"
    kHead,     // one of its objects
    kTensor,   // {"shape", "data"}
    kShape,
    kNumbers,  // an array that was scanned; its "]" is still to come
  };

  [[noreturn]] void Fail(const std::string& what) const;
  [[noreturn]] void FailAt(const std::string& path, const std::string& what) const;
  [[noreturn]] void Unexpected(const std::string& found) const;
  void Check(const JsonHeader::Problem& problem) const;
  std::string Path() const;
  std::string Expected() const;

  bool InHeader() const;
  bool AwaitsTensor() const;
  bool AtRootValue() const { return places_.size() == 1 && header_.depth() == 1; }
  void HeaderScalar(std::string_view text, JsonKind kind, const std::string& found);
  void RootKey(const std::string& key);
  void DecideForm(const JsonKey& key);
  void TensorKey(const std::string& key);
  void AddDimension(uint64_t value);
  void ReadData(JsonCursor& cursor, size_t max_rank);
  void FinishFlatTensor();
  void AddTensor(Shape shape);
  void FinishHead();
  void FinishRoot() const;
  void RequireHeads() const;

  const MappedFile& file_;
  JsonCursor cursor_;
  JsonForm form_ = JsonForm::kUnknown;
  JsonHeader header_;
  std::vector<TensorInfo> infos_;
  std::vector<SharedTensor> tensors_;

  std::vector<Place> places_;
  std::string first_key_;              // it decided the form
  const JsonKey* root_key_ = nullptr;  // the present one
  std::unordered_set<std::string> root_keys_;
  std::unordered_set<std::string> names_;  // of "tensors", or of the present head
  std::string name_;                       // the present one of these
  int64_t num_heads_ = 0;                  // the present one included

  // The tensor being read.
  FloatBuffer numbers_;
  std::string tensor_key_;  // "shape" or "data"
  std::optional<Shape> shape_;
  bool data_seen_ = false;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_WEIGHTS_READER_H_
