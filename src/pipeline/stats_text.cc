// Statistics as text: a table, JSON, CSV.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attnmap/core/number_text.h"
#include "attnmap/pipeline/stats.h"
#include "pipeline/text_table.h"

namespace attnmap {
namespace {

using Json = nlohmann::ordered_json;

// A number of a record: its name in JSON and CSV, and its column in the table.
struct Field {
  const char* name;
  std::optional<double> (*get)(const HeadStatistics&);
  const char* heading;
  const char* unit;  // under the heading
  size_t width;
  double factor;  // in the table
  int decimals;
};

template <double HeadStatistics::*kMember>
std::optional<double> Always(const HeadStatistics& head) {
  return head.*kMember;
}

template <std::optional<double> HeadStatistics::*kMember>
std::optional<double> IfThere(const HeadStatistics& head) {
  return head.*kMember;
}

using Stats = HeadStatistics;
constexpr Field kFields[] = {
    {"entropy", Always<&Stats::entropy>, "entropy", "nats", 8, 1, 3},
    {"distance", Always<&Stats::distance>, "distance", "px", 9, 1, 1},
    {"class_mass", IfThere<&Stats::class_mass>, "class", "mass %", 8, 100, 2},
    {"register_mass", IfThere<&Stats::register_mass>, "register", "mass %", 9, 100, 2},
    {"patches_50", Always<&Stats::patches_50>, "50 % in", "patch %", 9, 100, 1},
    {"patches_90", Always<&Stats::patches_90>, "90 % in", "patch %", 9, 100, 1},
    {"outlier_share", Always<&Stats::outlier_share>, "outlier", "patch %", 9, 100, 1},
    {"outlier_mass", IfThere<&Stats::outlier_mass>, "outlier", "mass %", 9, 100, 1},
};

// What stands in the columns of one line: layer and head, and a cell a field.
std::string Line(const std::string& layer, const std::string& head,
                 const std::vector<std::string>& cells) {
  std::string line = Right(layer, 5) + Right(head, 5);
  for (size_t i = 0; i < cells.size(); ++i) line += Right(cells[i], kFields[i].width);
  return line + "\n";
}

std::string Cell(const Field& field, const std::optional<double>& value) {
  return value ? Fixed(*value * field.factor, field.decimals) : "-";
}

std::string HeadLine(const HeadStatistics& head) {
  std::vector<std::string> cells;
  for (const Field& field : kFields) cells.push_back(Cell(field, field.get(head)));
  return Line(std::to_string(head.layer), std::to_string(head.head), cells);
}

std::string MeanLine(std::span<const HeadStatistics> heads) {
  std::vector<std::string> cells;
  for (const Field& field : kFields) {
    std::optional<double> sum = 0;
    for (const HeadStatistics& head : heads) {
      const std::optional<double> value = field.get(head);
      sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
    }
    if (sum) *sum /= static_cast<double>(heads.size());
    cells.push_back(Cell(field, sum));
  }
  return Line("", "mean", cells);
}

std::string Headings() {
  std::vector<std::string> names;
  std::vector<std::string> units;
  for (const Field& field : kFields) {
    names.emplace_back(field.heading);
    units.emplace_back(field.unit);
  }
  return Line("layer", "head", names) + Line("", "", units);
}

Json RecordOf(const ImageStatistics& statistics, const HeadStatistics& head) {
  Json record = {{"image", statistics.image}, {"layer", head.layer}, {"head", head.head}};
  for (const Field& field : kFields) {
    const std::optional<double> value = field.get(head);
    record[field.name] = value ? Json(*value) : Json(nullptr);
  }
  return record;
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A field in quotes where it needs them.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string StatsTable(const ImageStatistics& statistics) {
  const PatchGrid& grid = statistics.grid;
  std::string text = statistics.image + ": " + std::to_string(grid.rows) + " x " +
                     std::to_string(grid.cols) + " patches of " + std::to_string(grid.patch_size) +
                     " px, " + std::to_string(statistics.tokens.num_tokens(grid)) + " tokens\n";
  text += "all weights equal: entropy " +
          Fixed(UniformEntropy(statistics.tokens, grid), kFields[0].decimals) + " nats, distance " +
          Fixed(UniformDistance(statistics.tokens, grid), kFields[1].decimals) + " px";
  if (!statistics.query.empty()) {
    text += "; mass on outliers: of the " + statistics.query + " token";
  }
  text += "\n\n" + Headings();
  const std::span<const HeadStatistics> all(statistics.heads);
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end].layer == all[begin].layer) ++end;
    text += "\n";
    for (size_t i = begin; i < end; ++i) text += HeadLine(all[i]);
    if (end - begin > 1) text += MeanLine(all.subspan(begin, end - begin));
    begin = end;
  }
  return text;
}

std::string StatsJsonLines(const ImageStatistics& statistics) {
  std::string text;
  for (const HeadStatistics& head : statistics.heads) {
    text += Text(RecordOf(statistics, head)) + "\n";
  }
  return text;
}

std::string StatsJson(std::span<const ImageStatistics> all) {
  std::string text;
  for (const ImageStatistics& one : all) {
    for (const HeadStatistics& head : one.heads) {
      text += (text.empty() ? "[\n" : ",\n") + Text(RecordOf(one, head));
    }
  }
  return text + "\n]\n";
}

std::string StatsCsv(std::span<const ImageStatistics> all) {
  std::string text = "image,layer,head";
  for (const Field& field : kFields) text += std::string(",") + field.name;
  text += "\n";
  for (const ImageStatistics& one : all) {
    for (const HeadStatistics& head : one.heads) {
      text +=
          CsvField(one.image) + "," + std::to_string(head.layer) + "," + std::to_string(head.head);
      for (const Field& field : kFields) {
        const std::optional<double> value = field.get(head);
        text += "," + (value ? Text(Json(*value)) : std::string());
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace attnmap
