#include "attnmap/pipeline/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"

namespace attnmap {
namespace {

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

bool CanClassify(const VitModel& model) { return model.head.present() && !model.labels.empty(); }

// Patches that lie in padding are not part of the picture.
void MarkPadding(PatchMap& map, const ImageGeometry& geometry) {
  const PatchGrid& grid = map.grid;
  std::vector<uint8_t> shown(static_cast<size_t>(grid.num_patches()), 1);
  bool any = false;
  for (int i = 0; i < grid.num_patches(); ++i) {
    const RowsCols at = grid.PatchAt(i);
    if (geometry.PatchShowsPicture(grid, at.rows, at.cols)) continue;
    shown[static_cast<size_t>(i)] = 0;
    any = true;
  }
  if (any) map.shown = std::move(shown);
}

std::string PanelLabel(const PatchMap& map) {
  const bool number = !map.head.empty() && map.head[0] >= '0' && map.head[0] <= '9';
  return "layer " + std::to_string(map.layer) +
         (number ? " head " + map.head : " " + map.head + " of heads");
}

std::vector<ExportedArray> MapArrays(const std::vector<PatchMap>& maps) {
  std::vector<ExportedArray> arrays;
  for (const PatchMap& map : maps) {
    const std::string name =
        maps.size() == 1 ? std::string("map") : "map." + std::to_string(map.layer) + "." + map.head;
    arrays.push_back({name, SharedTensor(Tensor({map.grid.rows, map.grid.cols}, map.values)),
                      map.layer, map.head, map.query});
  }
  return arrays;
}

}  // namespace

ComputedMaps ComputeMaps(const PreparedModel& prepared, const LoadedInput& input, const MapJob& job,
                         ThreadPool& pool) {
  const VitModel& model = prepared.model();
  const SelectionOptions& selection = job.selection;
  const ResolvedQuery query = ResolveQueryFor(selection.query, model, input.input);
  if (query.kind == ResolvedQuery::Kind::kAll) {
    throw Error("--query all makes no picture: use attnmap dump");
  }
  ResolveHeads(selection.heads, model.config.num_heads);
  MapRequest request{.method = selection.method,
                     .layers = ResolveLayers(selection.layers, model.config.num_layers),
                     .heads = selection.heads,
                     .query = query,
                     .tokens = model.config.tokens,
                     .grid = input.input.grid,
                     .num_heads = model.config.num_heads};
  const auto maps = MakeMapSink(request);
  CaptureRequest outputs;
  outputs.outputs.logits = job.want_classes && CanClassify(model);
  AttentionRecord record(outputs);
  MapsAndOutputs sink(*maps, record);
  prepared.Encode(input.input, sink, pool, {selection.scale});

  ComputedMaps computed{maps->Maps(), {}};
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
  result.layers = request.layers;
  result.heads = HeadLabel(selection.heads);
  result.query = query.label;
  result.num_layers = model.config.num_layers;
  result.num_heads = model.config.num_heads;
  result.constant = result.min == result.max;
  if (const Tensor* logits = record.output(OutputKind::kLogits)) {
    result.top5 = TopClasses(*logits, model.labels);
  }
  result.notes = model.notes;
  result.notes.insert(result.notes.end(), input.notes.begin(), input.notes.end());
  if (selection.query.kind == QueryChoice::Kind::kDefault &&
      query.kind != ResolvedQuery::Kind::kToken) {
    result.notes.push_back("the model has no class token: the query is " + query.label);
  }
  return computed;
}

RenderedPicture RenderMaps(const LoadedInput& input, const std::vector<PatchMap>& maps,
                           const MapJob& job) {
  PictureOptions options = job.picture;
  if (!job.layout_given && maps.size() > 1) options.layout = Layout::kSheet;
  if (!job.colorbar_given) options.colorbar = options.layout == Layout::kSheet;
  if (maps.size() > 1 && options.layout != Layout::kSheet) {
    throw UsageError("--layout " + std::string(LayoutName(options.layout)) + " shows one map, " +
                     std::to_string(maps.size()) + " were chosen: use --layout sheet");
  }
  std::vector<Panel> panels;
  for (const PatchMap& map : maps) panels.push_back({map, PanelLabel(map)});
  return RenderPicture(input.picture, input.input.geometry, panels, options);
}

std::string RenderOutput(const LoadedInput& input, ComputedMaps& computed, const MapJob& job) {
  if (!job.format.picture) {
    return ExportBytes(job.format.array_format, MapArrays(computed.maps));
  }
  const RenderedPicture rendered = RenderMaps(input, computed.maps, job);
  computed.result.constant = rendered.constant;
  EncodeOptions encode;
  encode.codec_module = job.input.decode.codec_module;
  const std::vector<uint8_t> bytes = EncodeImage(rendered.image, job.format.picture_format, encode);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

OneResult RunOne(const PreparedModel& model, const OnePicture& one, const MapJob& job,
                 ThreadPool& pool, const StopFlag* stop) {
  const auto start = std::chrono::steady_clock::now();
  const LoadedInput input = LoadInput(one.image, job.input, model.model());
  if (job.format.picture && !input.has_picture()) {
    throw UsageError(
        "prepared pixels hold no picture to draw on: name it with --on IMAGE, or "
        "write the map as json, npy, npz, safetensors or csv");
  }
  CheckStop(stop);
  ComputedMaps computed = ComputeMaps(model, input, job, pool);
  if (one.check_model) CheckFinite(model.model());
  CheckStop(stop);
  OneResult done;
  done.bytes = RenderOutput(input, computed, job);
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
  if (picture.mass && !(*picture.mass > 0 && *picture.mass <= 1)) {
    throw UsageError("--mass takes a share above 0 and up to 1");
  }
  if (job.selection.threads < 0) throw UsageError("--threads takes a number of at least 1");
  if (job.selection.query.kind == QueryChoice::Kind::kAll) {
    throw UsageError("--query all is for dump: a picture shows one query");
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
