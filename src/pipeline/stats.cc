#include "attnmap/pipeline/stats.h"

#include <cmath>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "attnmap/render/plot.h"

namespace attnmap {
namespace {

using Query = QueryChoice::Kind;

// The token whose row the outlier mass is of; nothing where the model has no
// class token and none was named.
std::optional<ResolvedQuery> OutlierQuery(const QueryChoice& choice, const VitModel& model,
                                          const ModelInput& input) {
  if (choice.kind == Query::kDefault && !model.config.tokens.has_class_token) return std::nullopt;
  return ResolveQueryFor(choice, model, input);
}

ImageStatistics StatisticsOf(const std::string& image, const StatsOptions& options,
                             const PreparedModel& prepared, ThreadPool& pool) {
  const VitModel& model = prepared.model();
  const SelectionOptions& selection = options.selection;
  const LoadedInput input = LoadInput(image, options.input, model);
  const auto query = OutlierQuery(selection.query, model, input.input);
  ResolveHeads(selection.heads, model.config.num_heads);
  StatisticsRequest request{.layers = ResolveLayers(selection.layers, model.config.num_layers),
                            .heads = selection.heads,
                            .query_token = {},
                            .tokens = model.config.tokens,
                            .grid = input.input.grid,
                            .num_heads = model.config.num_heads};
  if (query) request.query_token = query->token;
  const auto sink = MakeStatisticsSink(request);
  prepared.Encode(input.input, *sink, pool, {selection.scale});
  ImageStatistics result{
      image, model.config.tokens, input.input.grid, query ? query->label : std::string(),
      {},    model.notes};
  result.heads = sink->Records();
  result.notes.insert(result.notes.end(), input.notes.begin(), input.notes.end());
  return result;
}

// The chart of one number: of several pictures, each head's mean over them.
DotChart ChartOf(std::span<const ImageStatistics> all, double HeadStatistics::*number) {
  DotChart chart;
  const std::vector<HeadStatistics>& first = all.front().heads;
  chart.x_title = "layer (counted from 0)";
  chart.first_column = first.front().layer;
  for (size_t i = 0; i < first.size(); ++i) {
    const auto column = static_cast<size_t>(first[i].layer - chart.first_column);
    if (column == chart.dots.size()) chart.dots.emplace_back();
    double sum = 0;
    for (const ImageStatistics& one : all) sum += one.heads[i].*number;
    chart.dots[column].push_back(sum / static_cast<double>(all.size()));
  }
  return chart;
}

double MeanOver(std::span<const ImageStatistics> all,
                double (*number)(const TokenLayout&, const PatchGrid&)) {
  double sum = 0;
  for (const ImageStatistics& one : all) sum += number(one.tokens, one.grid);
  return sum / static_cast<double>(all.size());
}

std::string FileName(const std::string& path) {
  if (path == "-") return "standard input";
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

void CheckStats(const StatsOptions& options) {
  if (options.selection.heads.kind == HeadChoice::Kind::kFused) {
    throw UsageError("stats counts heads one by one: --head takes N, a list or all");
  }
  const Query query = options.selection.query.kind;
  if (query == Query::kMean || query == Query::kPool || query == Query::kAll) {
    throw UsageError(
        "stats looks at all queries; --query names the one token whose mass on outliers is given: "
        "class, ROW,COL, px:X,Y or token:N");
  }
}

std::vector<ImageStatistics> RunStats(const StatsOptions& options,
                                      const std::function<void(const ImageStatistics&)>& on_image) {
  const PreparedModel prepared =
      PrepareModel(options.model, options.selection, options.images.size() > 1);
  ThreadPool pool(NumThreads(options.selection));
  std::vector<ImageStatistics> all;
  for (const std::string& image : options.images) {
    all.push_back(StatisticsOf(image, options, prepared, pool));
    on_image(all.back());
  }
  // Neither file where one of them cannot be made.
  std::optional<AtomicFile> numbers;
  std::optional<AtomicFile> figure;
  if (!options.output.empty()) {
    numbers.emplace(options.output);
    numbers->Write(options.format == ArrayFormat::kJson ? StatsJson(all) : StatsCsv(all));
  }
  if (!options.figure.empty()) {
    EncodeOptions encode;
    encode.codec_module = options.input.decode.codec_module;
    const Image image = StatsFigure(all, options.font, options.fallback_fonts);
    figure.emplace(options.figure);
    figure->Write(EncodeImage(image, options.figure_format, encode));
  }
  if (numbers) numbers->Commit();
  if (figure) figure->Commit();
  return all;
}

Image StatsFigure(std::span<const ImageStatistics> all, const std::string& font,
                  const std::vector<std::string>& fallback_fonts) {
  DotChart distance = ChartOf(all, &HeadStatistics::distance);
  distance.title = "attention distance (px)";
  distance.reference = MeanOver(all, UniformDistance);
  DotChart entropy = ChartOf(all, &HeadStatistics::entropy);
  entropy.title = "attention entropy (nats)";
  entropy.reference = MeanOver(all, UniformEntropy);
  PlotOptions options;
  options.font = font;
  options.fallback_fonts = fallback_fonts;
  options.heading = all.size() == 1 ? FileName(all.front().image)
                                    : "mean of " + std::to_string(all.size()) + " pictures";
  options.dots_are = "a head";
  options.means_are = "mean of a layer's heads";
  options.references_are = "all weights equal";
  const DotChart charts[] = {std::move(distance), std::move(entropy)};
  return DrawDotCharts(charts, options);
}

}  // namespace attnmap
