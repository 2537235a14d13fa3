#ifndef ATTNMAP_PIPELINE_RUN_H_
#define ATTNMAP_PIPELINE_RUN_H_

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnmap/analysis/objects.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/pipeline/options.h"
#include "attnmap/pipeline/session.h"

namespace attnmap {

// Everything `run` does to one picture; `batch` does it to many.
struct MapJob {
  InputOptions input;
  SelectionOptions selection;
  PictureOptions picture;
  // Of PictureOptionNames(), those named on the command line: without --layout
  // several maps make a sheet, without --colorbar sheets have one.
  std::vector<std::string> given;
  bool Given(std::string_view option) const;
  OutputFormat format;
  TerminalOptions terminal;   // of layout kTerminal
  bool want_classes = false;  // top 5, where the model can classify
  bool objects = false;       // the connected parts of the mass mask, for the record
};

struct ClassProbability {
  int index = 0;
  std::string label;  // empty: the model has no labels
  double probability = 0;
};

// What became of outlier tokens, over all maps.
struct OutlierTally {
  OutlierCount count;
  OutlierRule rule = OutlierRule::kKeep;
  std::string places;  // what the patches are of where that is more than one: "3 layers"
};

// What was done to one picture: a line of the manifest, and the success line.
struct MapResult {
  std::string image;
  std::string output;
  PatchGrid grid;
  double min = 0;  // of the raw map values, over all maps
  double max = 0;
  double seconds = 0;
  std::vector<int> layers;
  std::string heads;    // empty: the method has none
  std::string query;    // empty: the method has none
  int start_layer = 0;  // of a rollout
  int num_layers = 0;
  int num_heads = 0;
  bool constant = false;
  std::vector<ClassProbability> top5;
  std::optional<std::vector<MapObject>> objects;  // where they were asked for
  std::optional<OutlierTally> outliers;           // where they were treated
  std::vector<std::string> notes;
  std::vector<std::string> map_notes;  // of the numbers of just this picture's maps
};

// The maps of one picture, raw.
struct ComputedMaps {
  std::vector<PatchMap> maps;
  MapResult result;  // all but output and seconds
};

ComputedMaps ComputeMaps(const PreparedModel& prepared, const LoadedInput& input, const MapJob& job,
                         ThreadPool& pool, const StopFlag* stop = nullptr);

// One picture through one model, ready to be drawn.
struct DrawnMaps {
  const LoadedInput* input = nullptr;
  const Image* picture = nullptr;  // what is drawn on
  ComputedMaps* computed = nullptr;
  std::string image;  // what labels call it
  std::string model;
};

// The maps as the bytes of the output file the job asks for. Several pictures,
// or several models (of one picture one after the other, `num_models` of
// them), make a contact sheet: pictures down and models across, or, where each
// has several maps, those across.
std::string RenderOutput(std::span<const DrawnMaps> drawn, size_t num_models, const MapJob& job);

// One picture's maps as a picture, in the layout the job asks for or the one that
// fits their number. Throws Error where the layout shows fewer.
RenderedPicture RenderMaps(const LoadedInput& input, const std::vector<PatchMap>& maps,
                           const MapJob& job);

// All of it for one picture; output "-" hands the bytes back instead of writing.
struct OnePicture {
  std::string image;
  std::string output;
  // The model's numbers have not been looked at yet (LoadModelOptions): do so
  // before anything is written.
  bool check_model = false;
};
struct OneResult {
  MapResult result;
  std::string bytes;
};
OneResult RunOne(const PreparedModel& model, const OnePicture& one, const MapJob& job,
                 ThreadPool& pool, const StopFlag* stop);

// The same from a weights file: computing starts before all of it was read.
OneResult RunOne(ModelOptions model, OnePicture one, const MapJob& job, const StopFlag* stop);

// Several pictures, several models, one contact sheet.
struct SheetPictures {
  std::vector<std::string> images;
  std::vector<ModelOptions> models;
  std::string output;
};
struct SheetResult {
  std::vector<MapResult> results;  // a picture after the other, each through all models
  std::string bytes;
};
SheetResult RunSheet(const SheetPictures& sheet, const MapJob& job, const StopFlag* stop);

// What a picture is called in labels: its file's name, on one line.
std::string ImageLabel(const std::string& path);
// What each model or picture is called: its own name, and as many folders in
// front of it as tell apart those of one name.
std::vector<std::string> ImageLabels(const std::vector<std::string>& paths);
std::vector<std::string> ModelLabels(const std::vector<ModelOptions>& models);

// Options that contradict each other, found before any file is opened: UsageError.
void CheckJob(const MapJob& job);
// The same of one picture through one model: a layout that shows one map (or,
// heads, one layer) and a selection of several, whatever the model.
void CheckOnePicture(const MapJob& job);

// `<stem>.attnmap.png`, for an input path.
std::string DefaultOutputName(const std::string& image);

// "wrote OUT: layer 3 of 4, ..." in one line.
std::string SuccessLine(const MapResult& result, const MapJob& job);
// The same without "wrote OUT: ".
std::string WhatWasDone(const MapResult& result, const MapJob& job);

// "3 layers" and more places, "12 frames": "3 layers of 12 frames".
void AddPlaces(const std::string& places, OutlierTally& tally);

// Puts those of `notes` behind `all` that are not there yet.
void MergeNotes(std::span<const std::string> notes, std::vector<std::string>& all);
// What follows a success line: "; note; note".
std::string NotesText(std::span<const std::string> notes);

// The same for a sheet; models as in SheetPictures.
std::string SheetSuccessLine(std::span<const MapResult> results, const SheetPictures& sheet,
                             const MapJob& job);

// The settings that made a result, as a JSON object.
std::string SettingsJson(const MapJob& job);

// One record as `--json` prints it (with the selection), or as the manifest
// keeps it. `error` set: the picture failed.
std::string RecordJson(const MapResult& result, const std::string& model,
                       const std::string& settings, const std::optional<std::string>& error,
                       bool with_selection);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_RUN_H_
