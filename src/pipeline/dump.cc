#include "attnmap/pipeline/dump.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "pipeline/map_request.h"

namespace attnmap {
namespace {

// A word of --what, and what it takes from the encoder.
struct KindEntry {
  DumpKind kind;
  std::string_view word;
  std::optional<LayerMatrix> matrix;
  std::optional<OutputKind> output;
};

constexpr KindEntry kKinds[] = {
    {DumpKind::kAttention, "attention", {}, {}},
    {DumpKind::kScores, "scores", {}, {}},
    {DumpKind::kQuery, "query", LayerMatrix::kQuery, {}},
    {DumpKind::kKey, "key", LayerMatrix::kKey, {}},
    {DumpKind::kValue, "value", LayerMatrix::kValue, {}},
    {DumpKind::kTokens, "tokens", LayerMatrix::kTokens, {}},
    {DumpKind::kOutput, "output", LayerMatrix::kOutput, {}},
    {DumpKind::kHidden, "hidden", LayerMatrix::kHidden, {}},
    {DumpKind::kPixels, "pixels", {}, {}},
    {DumpKind::kMap, "map", {}, {}},
    {DumpKind::kLogits, "logits", {}, OutputKind::kLogits},
    {DumpKind::kClassTokenOutput, "class_token_output", {}, OutputKind::kClassTokenOutput},
    {DumpKind::kLastHiddenState, "last_hidden_state", {}, OutputKind::kLastHiddenState},
    {DumpKind::kImageEmbedding, "image_embedding", {}, OutputKind::kImageEmbedding},
    {DumpKind::kPoolAttention, "pool_attention", {}, OutputKind::kPoolAttention},
    {DumpKind::kModel, "model", {}, {}},
};

const KindEntry& EntryOf(DumpKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const KindEntry& entry) { return entry.kind == kind; });
}

// One dump: what is asked for, and the arrays as they come together.
class Dump {
 public:
  explicit Dump(const DumpOptions& options)
      : options_(options), prepared_(PrepareModel(options.model, options.selection, false)) {}

  DumpResult Run() {
    if (NeedsImage(options_.kinds)) {
      input_ = LoadInput(options_.image, options_.input, Model());
      ResolveSelection();
      Capture();
    }
    for (DumpKind kind : options_.kinds) AddKind(kind);
    DumpResult result;
    for (const ExportedArray& array : arrays_) {
      result.arrays.push_back(array.name + " (" + ToString(array.tensor.shape()) + ")");
    }
    result.notes = Model().notes;
    result.notes.insert(result.notes.end(), input_.notes.begin(), input_.notes.end());
    result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
    if (options_.output == "-") {
      result.bytes = ExportBytes(options_.format, arrays_);
    } else {
      ExportArrays(options_.output, options_.format, arrays_);
    }
    return result;
  }

 private:
  const VitModel& Model() const { return prepared_.model(); }

  bool Has(DumpKind kind) const {
    return std::find(options_.kinds.begin(), options_.kinds.end(), kind) != options_.kinds.end();
  }

  bool PerLayer() const {
    return std::any_of(options_.kinds.begin(), options_.kinds.end(), [](DumpKind kind) {
      return EntryOf(kind).matrix || kind == DumpKind::kAttention || kind == DumpKind::kScores ||
             kind == DumpKind::kMap;
    });
  }

  // Only what some word uses is resolved: the rest of the selection is ignored.
  void ResolveSelection() {
    if (!PerLayer()) return;
    const SelectionOptions& selection = options_.selection;
    layers_ = ResolveLayers(selection.layers, Model().config.num_layers);
    heads_ = ResolveHeads(selection.heads, Model().config.num_heads);
    query_ = ResolveQueryFor(selection.query, Model(), input_.input);
    const bool explicit_token = selection.query.kind != QueryChoice::Kind::kDefault &&
                                query_.kind == ResolvedQuery::Kind::kToken;
    if (explicit_token || query_.kind == ResolvedQuery::Kind::kAll) {
      rows_of_matrices_ = query_;
      rows_of_attention_ = query_;
    } else {
      rows_of_matrices_ = {ResolvedQuery::Kind::kAll, 0, "all"};
      const TokenLayout& tokens = Model().config.tokens;
      rows_of_attention_ = tokens.has_class_token ? ResolvedQuery{ResolvedQuery::Kind::kToken,
                                                                  tokens.class_token(), "class"}
                                                  : rows_of_matrices_;
    }
  }

  void Capture() {
    const LayerWants wants = WantsOfLayers();
    CaptureRequest request;
    if (wants.any()) request = {layers_, wants, {}};
    request.outputs = WantsOfOutputs();
    if (!wants.any() && !request.outputs.any()) return;
    record_ = std::make_unique<AttentionRecord>(request);
    ThreadPool pool(NumThreads(options_.selection));
    Encode(*record_, pool);
  }

  LayerWants WantsOfLayers() const {
    LayerWants wants;
    const QueryRows rows = rows_of_attention_.kind == ResolvedQuery::Kind::kAll
                               ? QueryRows::All()
                               : QueryRows::Only({rows_of_attention_.token});
    if (Has(DumpKind::kAttention)) wants.attention = rows;
    if (Has(DumpKind::kScores)) wants.scores = rows;
    wants.attention_heads = heads_;
    wants.query = Has(DumpKind::kQuery);
    wants.key = Has(DumpKind::kKey);
    wants.value = Has(DumpKind::kValue);
    wants.tokens = Has(DumpKind::kTokens);
    wants.output = Has(DumpKind::kOutput);
    wants.hidden = Has(DumpKind::kHidden);
    return wants;
  }

  OutputWants WantsOfOutputs() const {
    OutputWants wants;
    wants.logits = Has(DumpKind::kLogits);
    wants.class_token_output = Has(DumpKind::kClassTokenOutput);
    wants.last_hidden_state = Has(DumpKind::kLastHiddenState);
    wants.image_embedding = Has(DumpKind::kImageEmbedding);
    wants.pool_attention = Has(DumpKind::kPoolAttention);
    return wants;
  }

  void Encode(AttentionSink& sink, ThreadPool& pool) {
    prepared_.Encode(input_.input, sink, pool, {options_.selection.scale});
  }

  void AddKind(DumpKind kind) {
    const KindEntry& entry = EntryOf(kind);
    if (kind == DumpKind::kPixels) {
      arrays_.push_back({"pixels", SharedTensor(input_.input.pixels), {}, {}, {}});
    } else if (kind == DumpKind::kModel) {
      for (NamedTensor& tensor : CanonicalTensors(Model())) {
        arrays_.push_back({std::move(tensor.name), std::move(tensor.tensor), {}, {}, {}});
      }
    } else if (kind == DumpKind::kMap) {
      AddMaps();
    } else if (entry.output) {
      AddOutput(entry);
    } else {
      for (int layer : layers_) AddLayer(entry, layer);
    }
  }

  void AddOutput(const KindEntry& entry) {
    const Tensor* tensor = record_->output(*entry.output);
    if (tensor == nullptr) {
      throw Error("this model has no " + std::string(entry.word) + " (family " +
                  Model().config.family + ")");
    }
    arrays_.push_back({std::string(entry.word), SharedTensor(*tensor), {}, {}, {}});
  }

  std::string HeadLabel() const {
    if (heads_.empty()) return "all";
    std::string label;
    for (int head : heads_) label += (label.empty() ? "" : ",") + std::to_string(head);
    return label;
  }

  void AddLayer(const KindEntry& entry, int layer) {
    const std::string name = std::string(entry.word) + "." + std::to_string(layer);
    if (!entry.matrix) {
      const Tensor& tensor =
          entry.kind == DumpKind::kAttention ? record_->attention(layer) : record_->scores(layer);
      arrays_.push_back({name, SharedTensor(tensor), layer, HeadLabel(), rows_of_attention_.label});
      return;
    }
    Tensor tensor = record_->matrix(layer, *entry.matrix);
    const bool per_head = tensor.shape.size() == 3;
    if (per_head && !heads_.empty()) tensor = SelectHeads(tensor);
    if (rows_of_matrices_.kind == ResolvedQuery::Kind::kToken) tensor = SelectRow(tensor);
    arrays_.push_back({name, SharedTensor(std::move(tensor)), layer,
                       per_head ? HeadLabel() : std::string(), rows_of_matrices_.label});
  }

  Tensor SelectHeads(const Tensor& all) const {
    Tensor some;
    some.shape = {static_cast<int64_t>(heads_.size()), all.shape[1], all.shape[2]};
    const int64_t size = all.shape[1] * all.shape[2];
    for (int head : heads_) {
      const auto begin = all.values.begin() + head * size;
      some.values.insert(some.values.end(), begin, begin + size);
    }
    return some;
  }

  // The query's row of (heads, tokens, dim) or (tokens, dim); the axis stays.
  Tensor SelectRow(const Tensor& all) const {
    const size_t axis = all.shape.size() - 2;
    const int64_t tokens = all.shape[axis];
    const int64_t dim = all.shape[axis + 1];
    const int64_t heads = axis == 1 ? all.shape[0] : 1;
    Tensor row;
    row.shape = all.shape;
    row.shape[axis] = 1;
    for (int64_t head = 0; head < heads; ++head) {
      const auto begin = all.values.begin() + (head * tokens + rows_of_matrices_.token) * dim;
      row.values.insert(row.values.end(), begin, begin + dim);
    }
    return row;
  }

  void AddMaps() {
    const MapRequest request = MakeMapRequest(Model(), input_.input, options_.selection, query_);
    const auto sink = MakeMapSink(request);
    ThreadPool pool(NumThreads(options_.selection));
    Encode(*sink, pool);
    const std::vector<PatchMap> maps = sink->Maps(pool);
    notes_ = sink->Notes();
    if (const auto tally = TallyOf(*sink, options_.selection.options.outliers)) {
      notes_.push_back(OutlierText(*tally));
    }
    if (options_.kinds.size() == 1) {
      const std::vector<std::string> of_selection = SelectionNotes(options_.selection, query_);
      notes_.insert(notes_.end(), of_selection.begin(), of_selection.end());
    }
    const bool leading =
        query_.kind == ResolvedQuery::Kind::kAll && HasQuery(options_.selection.method);
    const int64_t queries = leading ? Model().config.tokens.num_tokens(input_.input.grid) : 1;
    const auto count = static_cast<size_t>(queries);
    const bool single = maps.size() == count;
    for (size_t i = 0; i + count <= maps.size(); i += count) {
      const PatchMap& first = maps[i];
      Tensor tensor = MapTensor(first);
      if (leading) tensor.shape.insert(tensor.shape.begin(), queries);
      for (size_t j = i + 1; j < i + count; ++j) {
        tensor.values.insert(tensor.values.end(), maps[j].values.begin(), maps[j].values.end());
      }
      arrays_.push_back({MapName(first, single), SharedTensor(std::move(tensor)), MapLayer(first),
                         first.head, leading ? query_.label : first.query});
    }
  }

  const DumpOptions& options_;
  PreparedModel prepared_;
  LoadedInput input_;
  std::vector<int> layers_;
  std::vector<int> heads_;
  ResolvedQuery query_;
  ResolvedQuery rows_of_matrices_;
  ResolvedQuery rows_of_attention_;
  std::unique_ptr<AttentionRecord> record_;
  std::vector<ExportedArray> arrays_;
  std::vector<std::string> notes_;  // of the maps
};

}  // namespace

std::vector<DumpKind> ParseDumpKinds(std::string_view text) {
  std::vector<DumpKind> kinds;
  std::string known;
  for (const KindEntry& entry : kKinds) {
    known += (known.empty() ? "" : ", ") + std::string(entry.word);
  }
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const auto* entry = std::find_if(std::begin(kKinds), std::end(kKinds),
                                     [&](const KindEntry& e) { return e.word == word; });
    if (entry == std::end(kKinds)) {
      throw UsageError("--what '" + std::string(word) + "' is not known: it takes " + known);
    }
    if (std::find(kinds.begin(), kinds.end(), entry->kind) != kinds.end()) {
      throw UsageError("--what names " + std::string(word) + " twice");
    }
    kinds.push_back(entry->kind);
    if (comma == std::string_view::npos) return kinds;
    rest.remove_prefix(comma + 1);
  }
}

bool NeedsImage(const std::vector<DumpKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [](DumpKind kind) { return kind != DumpKind::kModel; });
}

void CheckDump(const DumpOptions& options) {
  const auto& kinds = options.kinds;
  if (std::find(kinds.begin(), kinds.end(), DumpKind::kMap) == kinds.end()) return;
  CheckMethod(options.selection, kinds.size() == 1);
  CheckMapFormat(options.selection.method, false, options.format);
}

DumpResult RunDump(const DumpOptions& options) { return Dump(options).Run(); }

}  // namespace attnmap
