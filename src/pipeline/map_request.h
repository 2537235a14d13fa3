#ifndef ATTNMAP_PIPELINE_MAP_REQUEST_H_
#define ATTNMAP_PIPELINE_MAP_REQUEST_H_

#include "attnmap/analysis/maps.h"
#include "attnmap/core/model_input.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/core/tensor.h"
#include "attnmap/export/export.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/pipeline/options.h"
#include "attnmap/pipeline/run.h"

namespace attnmap {

// Whether a method's maps are of a query token.
inline bool HasQuery(Method method) { return method != Method::kPca; }

// What a selection comes to for one model and picture. Valid while the model
// lives. Throws Error where the model does not have what was chosen.
MapRequest MakeMapRequest(const VitModel& model, const ModelInput& input,
                          const SelectionOptions& selection, const ResolvedQuery& query);

// Whether the maps are of a pooling head, which stands behind all layers.
bool BehindLayers(const SelectionOptions& selection, const ResolvedQuery& query);

// What is worth saying of a selection for this query.
std::vector<std::string> SelectionNotes(const SelectionOptions& selection,
                                        const ResolvedQuery& query);

// What an exported map is called, and its numbers: (rows, cols), or (3, rows,
// cols) where it has colours of its own.
std::string MapName(const PatchMap& map, bool single);
std::optional<int> MapLayer(const PatchMap& map);
Tensor MapTensor(const PatchMap& map);

// What became of outlier tokens in a sink's maps, where they were treated; after Maps.
std::optional<OutlierTally> TallyOf(const MapSink& sink, OutlierRule rule);
// "6 outlier tokens among 196 patches excluded".
std::string OutlierText(const OutlierTally& tally);

// Throws UsageError where the format cannot hold the method's maps.
void CheckMapFormat(Method method, bool picture, ArrayFormat format);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_MAP_REQUEST_H_
