#include "model/labels.h"

#include "model/form.h"

namespace attnmap {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

void ReadLabels(const WeightSource& source, const CheckpointConfig& config, VitModel& model) {
  const auto classes = static_cast<size_t>(model.config.num_classes);
  if (classes == 0) return;
  std::vector<std::string> labels = config.labels;
  std::string file = config.file;
  if (labels.empty()) {
    labels = Lines(source.Text("labels.txt").value_or(""));
    file = "labels.txt";
  }
  if (labels.empty()) return;
  if (labels.size() != classes) {
    model.notes.push_back(file + " names " + std::to_string(labels.size()) +
                          " classes, the model has " + std::to_string(classes) +
                          ": labels left out");
    return;
  }
  model.labels = std::move(labels);
  Note(model, "labels", std::to_string(classes), file);
}

}  // namespace attnmap
