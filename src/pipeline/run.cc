#include "attnmap/pipeline/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "pipeline/map_request.h"
#include "pipeline/picture_options.h"

namespace attnmap {
namespace {

// DINO's share for its masks, where --objects comes without --mass.
constexpr double kObjectMass = 0.6;

// Maps and model outputs from one run: the maps' sink is asked first, the
// record takes what comes from behind the blocks.
class MapsAndOutputs : public AttentionSink {
 public:
  MapsAndOutputs(MapSink& maps, AttentionRecord& outputs) : maps_(maps), outputs_(outputs) {}
  LayerWants Wants(int layer) const override { return maps_.Wants(layer); }
  OutputWants Outputs() const override {
    OutputWants wants = maps_.Outputs();
    wants.logits = wants.logits || outputs_.Outputs().logits;
    return wants;
  }
  void Begin(int num_heads, int num_tokens) override { maps_.Begin(num_heads, num_tokens); }
  void OnAttention(const AttentionTile& tile) override { maps_.OnAttention(tile); }
  void OnScores(const AttentionTile& tile) override { maps_.OnScores(tile); }
  void OnFused(const AttentionTile& tile) override { maps_.OnFused(tile); }
  void OnMatrix(int layer, LayerMatrix kind, Tensor tensor) override {
    maps_.OnMatrix(layer, kind, std::move(tensor));
  }
  void OnOutput(OutputKind kind, Tensor tensor) override {
    if (kind == OutputKind::kLogits) {
      outputs_.OnOutput(kind, std::move(tensor));
    } else {
      maps_.OnOutput(kind, std::move(tensor));
    }
  }

 private:
  MapSink& maps_;
  AttentionRecord& outputs_;
};

std::string HeadLabel(const HeadChoice& choice) {
  if (choice.kind == HeadChoice::Kind::kAll) return "all";
  if (choice.kind == HeadChoice::Kind::kFused) return std::string(FusionName(choice.fusion));
  std::string label;
  for (int head : choice.heads) {
    if (!label.empty()) label += ",";
    label += std::to_string(head);
  }
  return label;
}

// The five most probable classes, softmax over all.
std::vector<ClassProbability> TopClasses(const Tensor& logits,
                                         const std::vector<std::string>& labels) {
  constexpr size_t kTop = 5;
  std::vector<int> order(logits.values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int index) { return logits.values[static_cast<size_t>(index)]; };
  const size_t count = std::min(kTop, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](int a, int b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  double sum = 0;
  for (float logit : logits.values) sum += std::exp(static_cast<double>(logit) - value(order[0]));
  std::vector<ClassProbability> top;
  for (size_t i = 0; i < count; ++i) {
    const auto index = static_cast<size_t>(order[i]);
    top.push_back({order[i], index < labels.size() ? labels[index] : std::string(),
                   std::exp(static_cast<double>(value(order[i])) - value(order[0])) / sum});
  }
  return top;
}

// Whether these are several layers in every model that has them.
bool SurelySeveral(const LayerChoice& layers) {
  if (layers.single) return false;
  if (layers.open_end) return layers.begin == 0 || layers.begin < -1;
  return (layers.begin < 0) == (layers.end < 0) && layers.end - layers.begin > 1;
}

bool CanClassify(const VitModel& model) { return model.head.present() && !model.labels.empty(); }

// Patches that lie in padding are not part of the picture.
void MarkPadding(PatchMap& map, const ImageGeometry& geometry) {
  const PatchGrid& grid = map.grid;
  std::vector<uint8_t> shown = map.shown;
  shown.resize(static_cast<size_t>(grid.num_patches()), 1);
  bool any = false;
  for (int i = 0; i < grid.num_patches(); ++i) {
    const RowsCols at = grid.PatchAt(i);
    if (geometry.PatchShowsPicture(grid, at.rows, at.cols)) continue;
    shown[static_cast<size_t>(i)] = 0;
    any = true;
  }
  if (any) map.shown = std::move(shown);
}

}  // namespace

ComputedMaps ComputeMaps(const PreparedModel& prepared, const LoadedInput& input, const MapJob& job,
                         ThreadPool& pool, const StopFlag* stop) {
  const VitModel& model = prepared.model();
  const SelectionOptions& selection = job.selection;
  const ResolvedQuery query = ResolveQueryFor(selection.query, model, input.input);
  if (query.kind == ResolvedQuery::Kind::kAll) {
    throw Error("--query all makes no picture: use attnmap dump");
  }
  const MapRequest request = MakeMapRequest(model, input.input, selection, query);
  const auto maps = MakeMapSink(request);
  CaptureRequest outputs;
  outputs.outputs.logits = job.want_classes && CanClassify(model);
  AttentionRecord record(outputs);
  MapsAndOutputs sink(*maps, record);
  prepared.Encode(input.input, sink, pool, {selection.scale, stop});

  ComputedMaps computed{maps->Maps(pool), {}};
  MapResult& result = computed.result;
  result.min = std::numeric_limits<double>::infinity();
  result.max = -result.min;
  for (PatchMap& map : computed.maps) {
    MarkPadding(map, input.input.geometry);
    for (int i = 0; i < map.grid.num_patches(); ++i) {
      if (!map.IsShown(i)) continue;
      result.min = std::min<double>(result.min, map.values[static_cast<size_t>(i)]);
      result.max = std::max<double>(result.max, map.values[static_cast<size_t>(i)]);
    }
  }
  result.grid = input.input.grid;
  if (!BehindLayers(selection, query)) result.layers = request.layers;
  const bool pca = selection.method == Method::kPca;
  if (!pca && selection.method != Method::kSimilarity) result.heads = HeadLabel(selection.heads);
  if (!pca) result.query = query.label;
  result.start_layer = request.options.start_layer;
  result.num_layers = model.config.num_layers;
  result.num_heads = model.config.num_heads;
  result.constant = result.min == result.max;
  if (const Tensor* logits = record.output(OutputKind::kLogits)) {
    result.top5 = TopClasses(*logits, model.labels);
  }
  result.notes = model.notes;
  result.notes.insert(result.notes.end(), input.notes.begin(), input.notes.end());
  MergeNotes(SelectionNotes(selection, query), result.notes);
  MergeNotes(OutputNotes(job), result.notes);
  result.map_notes = maps->Notes();
  result.outliers = TallyOf(*maps, selection.options.outliers);
  if (job.objects) {
    result.objects.emplace();
    for (const PatchMap& map : computed.maps) {
      const auto objects =
          FindObjects(map, job.picture.mass.value_or(kObjectMass), input.input.geometry);
      result.objects->insert(result.objects->end(), objects.begin(), objects.end());
    }
  }
  if (!pca && selection.query.kind == QueryChoice::Kind::kDefault &&
      query.kind != ResolvedQuery::Kind::kToken) {
    result.notes.push_back("the model has no class token: the query is " + query.label);
  }
  return computed;
}

OneResult RunOne(const PreparedModel& model, const OnePicture& one, const MapJob& job,
                 ThreadPool& pool, const StopFlag* stop) {
  const auto start = std::chrono::steady_clock::now();
  const LoadedInput input = LoadInput(one.image, job.input, model.model());
  if (job.format.picture) CheckHasPicture(input);
  CheckStop(stop);
  ComputedMaps computed = ComputeMaps(model, input, job, pool, stop);
  if (one.check_model) CheckFinite(model.model());
  CheckStop(stop);
  OneResult done;
  const DrawnMaps drawn{&input, &input.picture, &computed, ImageLabel(one.image), {}};
  done.bytes = RenderOutput({&drawn, 1}, 1, job);
  CheckStop(stop);
  done.result = std::move(computed.result);
  done.result.image = one.image;
  done.result.output = one.output;
  if (one.output != "-") {
    const auto* bytes = reinterpret_cast<const uint8_t*>(done.bytes.data());
    WriteFileAtomically(one.output, {bytes, done.bytes.size()});
    done.bytes.clear();
  }
  done.result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return done;
}

OneResult RunOne(ModelOptions model, OnePicture one, const MapJob& job, const StopFlag* stop) {
  model.load.check_finite = false;
  one.check_model = true;
  const PreparedModel prepared = PrepareModel(model, job.selection, false);
  ThreadPool pool(NumThreads(job.selection));
  return RunOne(prepared, one, job, pool, stop);
}

void CheckJob(const MapJob& job) {
  const PictureOptions& picture = job.picture;
  if (!(picture.alpha >= 0 && picture.alpha <= 1)) {
    throw UsageError("--alpha takes a number from 0 to 1");
  }
  CheckPictureOptions(job);
  if (picture.layout == Layout::kHeads) {
    if (job.selection.method == Method::kPca || job.selection.method == Method::kSimilarity) {
      throw UsageError("--layout heads shows heads, of which --method " +
                       std::string(MethodName(job.selection.method)) + " knows none");
    }
    if (job.selection.heads.kind == HeadChoice::Kind::kFused) {
      throw UsageError("--layout heads has a colour for each head: --head takes all or a list");
    }
  }
  if (picture.layout == Layout::kTerminal && (!job.format.picture || job.format.vector)) {
    throw UsageError("--layout terminal prints a picture: it goes with no file format");
  }
  if (job.selection.method == Method::kPca && job.format.vector) {
    throw UsageError("--method pca has colours of its own: write it as png, jpg, webp or tiff");
  }
  if (picture.mass && !(*picture.mass > 0 && *picture.mass <= 1)) {
    throw UsageError("--mass takes a share above 0 and up to 1");
  }
  if (job.selection.threads < 0) throw UsageError("--threads takes a number of at least 1");
  if (job.selection.query.kind == QueryChoice::Kind::kAll) {
    throw UsageError("--query all is for dump: a picture shows one query");
  }
  CheckMethod(job.selection);
  if (job.format.vector) CheckVectorFormat(*job.format.vector, picture);
  CheckMapFormat(job.selection.method, job.format.picture, job.format.array_format);
}

void CheckOnePicture(const MapJob& job) {
  const SelectionOptions& selection = job.selection;
  const Layout layout = job.picture.layout;
  const bool heads = layout == Layout::kHeads;
  if (!job.format.picture || !job.Given("--layout") || layout == Layout::kSheet ||
      layout == Layout::kTerminal || selection.method == Method::kPca) {
    return;
  }
  const bool takes_heads = selection.method != Method::kSimilarity;
  const bool several_heads =
      selection.heads.kind == HeadChoice::Kind::kAll ||
      (selection.heads.kind == HeadChoice::Kind::kList && selection.heads.heads.size() > 1);
  const bool several_layers = SurelySeveral(selection.layers);
  if (several_layers || (several_heads && takes_heads && !heads)) {
    throw UsageError("--layout " + std::string(LayoutName(layout)) +
                     (heads ? " shows the heads of one layer" : " shows one map") +
                     ", several were chosen with " + (several_layers ? "--layer" : "--head") +
                     (heads ? "" : ": use --layout sheet"));
  }
}

std::string DefaultOutputName(const std::string& image) {
  if (image == "-") return "stdin.attnmap.png";
  const size_t slash = image.find_last_of('/');
  std::string name = slash == std::string::npos ? image : image.substr(slash + 1);
  const size_t dot = name.find_last_of('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name + ".attnmap.png";
}

}  // namespace attnmap
