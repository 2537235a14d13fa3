#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "attnmap/formats/json_weights.h"
#include "formats/json_text.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr size_t kFlushAt = size_t{64} << 10;
constexpr size_t kFlatPiece = 4096;

// Text on its way into a file, never much of it at once.
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  std::string& text() { return text_; }
  void Flush(size_t from = kFlushAt) {
    if (text_.size() < from) return;
    file_.Write(std::string_view(text_));
    text_.clear();
  }
  void Finish() {
    Flush(0);
    file_.Commit();
  }

  // A TENSOR: nested arrays where that can say the shape, else flat.
  void Tensor(const NamedTensor& named, bool nested) {
    Check(named);
    const SharedTensor& tensor = named.tensor;
    if (nested && !tensor.shape().empty() && tensor.size() > 0) {
      AppendNestedArray(text_, tensor.shape(), tensor.values(), [&](std::string&) { Flush(); });
    } else {
      Flat(tensor);
    }
  }

 private:
  static void Check(const NamedTensor& named) {
    for (float value : named.tensor.values()) {
      if (std::isfinite(value)) continue;
      throw Error("cannot write the tensor " + Shown(named.name) +
                  " as JSON: it has a value that is " + (std::isnan(value) ? "NaN" : "infinite"));
    }
  }

  void Flat(const SharedTensor& tensor) {
    text_ += "{\"shape\":[";
    for (size_t i = 0; i < tensor.shape().size(); ++i) {
      text_ += (i > 0 ? "," : "") + std::to_string(tensor.shape()[i]);
    }
    text_ += "],\"data\":[";
    const auto values = tensor.values();
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ',';
      AppendFloat(text_, values[i]);
      if (i % kFlatPiece == 0) Flush();
    }
    text_ += "]}";
    Flush();
  }

  AtomicFile file_;
  std::string text_;
};

// The header without its closing brace, ready for another key.
std::string OpenHeader(std::string_view header) {
  const size_t begin = header.find_first_not_of(" \t\r\n");
  const size_t end = header.find_last_not_of(" \t\r\n");
  if (begin == header.npos || header[begin] != '{' || header[end] != '}' || begin == end) {
    throw Error("the header of JSON weights is no JSON object: " + Shown(header));
  }
  std::string open(header.substr(begin, end - begin));
  const size_t last = open.find_last_not_of(" \t\r\n");
  open.resize(last + 1);
  if (last > 0) open += ',';
  return open + '\n';
}

// "heads.3.W_Q" is W_Q of head 3.
struct HeadTensor {
  size_t head = 0;
  std::string_view key;
};
std::optional<HeadTensor> ParseHeadName(std::string_view name) {
  constexpr std::string_view kPrefix = "heads.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  HeadTensor parsed;
  const char* begin = name.data() + kPrefix.size();
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, parsed.head);
  if (error != std::errc() || stop == end || *stop != '.') return std::nullopt;
  parsed.key = name.substr(static_cast<size_t>(stop - name.data()) + 1);
  return parsed;
}

void WriteEntry(Writer& writer, std::string_view key, const NamedTensor& named, bool nested) {
  writer.text() += JsonString(key) + ':';
  writer.Tensor(named, nested);
}

// "heads":[{"W_Q":...},...], head by head, whatever order they come in.
void WriteHeads(Writer& writer, std::vector<const NamedTensor*> tensors) {
  const auto head_of = [](const NamedTensor* named) { return ParseHeadName(named->name)->head; };
  std::stable_sort(tensors.begin(), tensors.end(),
                   [&](const auto* a, const auto* b) { return head_of(a) < head_of(b); });
  writer.text() += "\"heads\":[";
  for (size_t i = 0; i < tensors.size(); ++i) {
    const HeadTensor here = *ParseHeadName(tensors[i]->name);
    const size_t before = i == 0 ? 0 : head_of(tensors[i - 1]);
    if (here.head != before && here.head != before + 1) {
      throw Error("JSON weights: there is no head before " + Shown(tensors[i]->name));
    }
    const bool first = i == 0 || here.head != before;
    if (first) writer.text() += i == 0 ? "{" : "},\n{";
    if (!first) writer.text() += ',';
    WriteEntry(writer, here.key, *tensors[i], true);
  }
  writer.text() += "}]";
}

}  // namespace

void WriteJsonWeights(const std::string& path, const std::string& header,
                      std::span<const NamedTensor> tensors, bool nested) {
  Writer writer(path);
  writer.text() = OpenHeader(header) + "\"tensors\":{";
  for (const NamedTensor& named : tensors) {
    writer.text() += &named == tensors.data() ? "\n" : ",\n";
    WriteEntry(writer, named.name, named, nested);
  }
  writer.text() += "\n}}\n";
  writer.Finish();
}

void WriteJsonLayer(const std::string& path, const std::string& header,
                    std::span<const NamedTensor> tensors) {
  Writer writer(path);
  writer.text() = OpenHeader(header);
  std::vector<const NamedTensor*> heads;
  bool first = true;
  const auto separate = [&] {
    if (!first) writer.text() += ",\n";
    first = false;
  };
  for (const NamedTensor& named : tensors) {
    if (ParseHeadName(named.name)) {
      heads.push_back(&named);
      continue;
    }
    separate();
    WriteEntry(writer, named.name, named, true);
  }
  if (!heads.empty()) {
    separate();
    WriteHeads(writer, std::move(heads));
  }
  writer.text() += "\n}\n";
  writer.Finish();
}

}  // namespace attnmap
