#include <charconv>
#include <cmath>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/array_checks.h"
#include "formats/json_text.h"

namespace attnmap {
namespace {

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

void AppendNestedArray(std::string& text, std::span<const int64_t> shape,
                       std::span<const float> values,
                       const std::function<void(std::string&)>& row_done) {
  text += '[';
  if (shape.size() == 1) {
    AppendRow(text, values);
    text += ']';
    return row_done(text);
  }
  const auto count = static_cast<size_t>(shape[0]);
  const size_t part = count > 0 ? values.size() / count : 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    AppendNestedArray(text, shape.subspan(1), values.subspan(i * part, part), row_done);
  }
  text += ']';
}

void AppendJsonArray(std::string& text, const Shape& shape, std::span<const float> values) {
  RequireCount(shape, values);
  if (shape.empty()) return AppendRow(text, values);
  AppendNestedArray(text, shape, values, [](std::string&) {});
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
