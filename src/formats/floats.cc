#include <charconv>
#include <cmath>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"

namespace attnmap {
namespace {

void RequireCount(const Shape& shape, std::span<const float> values) {
  if (NumElements(shape) != static_cast<int64_t>(values.size())) {
    throw Error("cannot write " + std::to_string(values.size()) + " numbers as " + ToString(shape));
  }
}

void AppendRow(std::string& text, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    if (std::isfinite(values[i])) {
      AppendFloat(text, values[i]);
    } else {
      text += "null";
    }
  }
}

void AppendNested(std::string& text, std::span<const int64_t> shape,
                  std::span<const float> values) {
  text += '[';
  if (shape.size() == 1) {
    AppendRow(text, values);
  } else {
    const auto count = static_cast<size_t>(shape[0]);
    const size_t part = count > 0 ? values.size() / count : 0;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text += ',';
      AppendNested(text, shape.subspan(1), values.subspan(i * part, part));
    }
  }
  text += ']';
}

}  // namespace

void AppendFloat(std::string& text, float value) {
  if (std::isnan(value)) {  // to_chars would tell -nan from nan
    text += "nan";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

void AppendJsonArray(std::string& text, const Shape& shape, std::span<const float> values) {
  RequireCount(shape, values);
  if (shape.empty()) return AppendRow(text, values);
  AppendNested(text, shape, values);
}

std::string CsvText(const Shape& shape, std::span<const float> values) {
  RequireCount(shape, values);
  if (shape.size() > 2) {
    throw Error("csv holds a table of at most two dimensions, this matrix is " + ToString(shape));
  }
  const auto cols = static_cast<size_t>(shape.empty() ? 1 : shape.back());
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    AppendFloat(text, values[i]);
    text += (i + 1) % cols == 0 ? '\n' : ',';
  }
  return text;
}

}  // namespace attnmap
