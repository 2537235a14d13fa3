// From maps to the bytes of an output file: which panels, where, called what.
#include <algorithm>
#include <set>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/run.h"
#include "attnmap/render/terminal.h"
#include "pipeline/map_request.h"

namespace attnmap {
namespace {

std::string PanelLabel(const PatchMap& map) {
  const bool number = !map.head.empty() && map.head[0] >= '0' && map.head[0] <= '9';
  if (!map.colours.empty()) return "principal components";
  std::string layer = map.layer < 0 ? "pooling" : "layer " + std::to_string(map.layer);
  if (map.head.empty()) return layer;
  return layer + (number ? " head " + map.head : " " + map.head + " of heads");
}

std::vector<ExportedArray> MapArrays(const std::vector<PatchMap>& maps) {
  std::vector<ExportedArray> arrays;
  arrays.reserve(maps.size());
  for (const PatchMap& map : maps) {
    arrays.push_back({MapName(map, maps.size() == 1), SharedTensor(MapTensor(map)), MapLayer(map),
                      map.head, map.query});
  }
  return arrays;
}

// Layout and colour bar where the user left them open.
PictureOptions OptionsFor(std::span<const DrawnMaps> drawn, const MapJob& job) {
  PictureOptions options = job.picture;
  const size_t num_maps = drawn.front().computed->maps.size();
  const bool several = drawn.size() > 1 || num_maps > 1;
  if (!job.Given("--layout") && several) options.layout = Layout::kSheet;
  const bool sheet =
      options.layout == Layout::kSheet || (drawn.size() > 1 && options.layout != Layout::kHeads);
  const bool own_colours = !drawn.front().computed->maps.front().colours.empty();
  if (!job.Given("--colorbar")) options.colorbar = sheet && !own_colours;
  const bool takes_several =
      sheet || options.layout == Layout::kHeads || options.layout == Layout::kTerminal;
  if (num_maps > 1 && !takes_several) {
    throw Error("--layout " + std::string(LayoutName(options.layout)) + " shows one map, " +
                std::to_string(num_maps) + " were chosen: use --layout sheet");
  }
  return options;
}

void CheckOneLayer(const ComputedMaps& computed) {
  std::set<int> layers;
  for (const PatchMap& map : computed.maps) layers.insert(map.layer);
  if (layers.size() > 1) {
    throw Error("--layout heads shows the heads of one layer, " + std::to_string(layers.size()) +
                " were chosen: choose one with --layer");
  }
}

PictureRequest PanelsOf(std::span<const DrawnMaps> drawn, Layout layout) {
  PictureRequest request;
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (layout == Layout::kHeads) CheckOneLayer(*drawn[i].computed);
    request.sources.push_back({drawn[i].picture, drawn[i].input->input.geometry});
    for (const PatchMap& map : drawn[i].computed->maps) {
      request.panels.push_back({map, PanelLabel(map), i, {}});
    }
  }
  return request;
}

// Pictures down, models across. `shaped`: also for one model.
void ArrangeByModel(std::span<const DrawnMaps> drawn, size_t num_models, bool shaped,
                    PictureRequest& request) {
  for (Panel& panel : request.panels) {
    panel.label = num_models == 1 && !shaped ? drawn[panel.source].image : std::string();
    panel.place = {static_cast<int>(panel.source / num_models),
                   static_cast<int>(panel.source % num_models)};
  }
  if (num_models == 1 && !shaped) return;
  const size_t num_images = drawn.size() / num_models;
  request.shape = RowsCols{static_cast<int>(num_images), static_cast<int>(num_models)};
  for (size_t i = 0; num_models > 1 && i < num_models; ++i) {
    request.col_heads.push_back(drawn[i].model);
  }
  for (size_t i = 0; num_images > 1 && i < num_images; ++i) {
    request.row_heads.push_back(drawn[i * num_models].image);
  }
}

// A row for each picture and model, its maps across.
void ArrangeByMap(std::span<const DrawnMaps> drawn, size_t num_models, PictureRequest& request) {
  size_t widest = 0;
  for (const DrawnMaps& one : drawn) {
    const std::vector<PatchMap>& maps = one.computed->maps;
    std::string head = drawn.size() == num_models ? std::string() : one.image;
    if (num_models > 1) head += (head.empty() ? "" : "\n") + one.model;
    request.row_heads.push_back(head);
    if (maps.size() <= widest) continue;
    widest = maps.size();
    request.col_heads.clear();
    for (const PatchMap& map : maps) request.col_heads.push_back(PanelLabel(map));
  }
  bool same = true;  // the column heads hold for every row
  size_t at = 0;
  for (size_t row = 0; row < drawn.size(); ++row) {
    for (size_t col = 0; col < drawn[row].computed->maps.size(); ++col, ++at) {
      Panel& panel = request.panels[at];
      panel.place = {static_cast<int>(row), static_cast<int>(col)};
      same = same && panel.label == request.col_heads[col];
    }
  }
  if (same) {
    for (Panel& panel : request.panels) panel.label.clear();
  } else {
    request.col_heads.clear();
  }
  request.shape = RowsCols{static_cast<int>(drawn.size()), static_cast<int>(widest)};
}

// Map after map (with heads: picture after picture), each under a line that says which.
std::string TerminalOutput(std::span<const DrawnMaps> drawn, const PictureOptions& given,
                           const MapJob& job) {
  PictureOptions options = given;
  options.layout = Layout::kOverlay;
  options.colorbar = false;
  if (job.terminal.style == TerminalStyle::kAscii) {  // shades of the map, without the photo
    options.layout = Layout::kHeatmap;
    options.colormap = "bone";
  }
  if (options.shared_scale) {
    std::vector<PatchMap> all;
    for (const DrawnMaps& one : drawn) {
      all.insert(all.end(), one.computed->maps.begin(), one.computed->maps.end());
    }
    options.range = ComputeRange(all, options.normalize);
  }
  std::string text;
  for (const DrawnMaps& one : drawn) {
    options.output_size = TerminalPixels(one.picture->size(), job.terminal);
    for (const PatchMap& map : one.computed->maps) {
      const Panel panel{map, {}, 0, {}};
      const RenderedPicture rendered =
          RenderPicture(*one.picture, one.input->input.geometry, {&panel, 1}, options);
      if (drawn.size() > 1 || one.computed->maps.size() > 1) {
        text +=
            one.image + (one.model.empty() ? "" : ", " + one.model) + ", " + PanelLabel(map) + "\n";
      }
      text += TerminalText(rendered.image, job.terminal);
    }
  }
  return text;
}

void TellResults(std::span<const DrawnMaps> drawn, bool constant,
                 const std::vector<std::string>& notes) {
  for (const DrawnMaps& one : drawn) one.computed->result.constant = constant;
  std::vector<std::string>& told = drawn.front().computed->result.notes;
  told.insert(told.end(), notes.begin(), notes.end());
}

}  // namespace

RenderedPicture RenderMaps(const LoadedInput& input, const std::vector<PatchMap>& maps,
                           const MapJob& job) {
  ComputedMaps computed{maps, {}};
  const DrawnMaps drawn{&input, &input.picture, &computed, {}, {}};
  const PictureOptions options = OptionsFor({&drawn, 1}, job);
  return RenderPicture(PanelsOf({&drawn, 1}, options.layout), options);
}

std::string RenderOutput(std::span<const DrawnMaps> drawn, size_t num_models, const MapJob& job) {
  if (!job.format.picture) {
    return ExportBytes(job.format.array_format, MapArrays(drawn.front().computed->maps));
  }
  const PictureOptions options = OptionsFor(drawn, job);
  std::vector<std::string>& notes = drawn.front().computed->result.notes;
  if ((options.contour || options.layout == Layout::kHeads) && !options.mass) {
    notes.push_back(
        std::string(options.layout == Layout::kHeads ? "heads keep" : "the outline holds") +
        " 0.6 of the mass (--mass)");
  }
  if (options.layout == Layout::kTerminal) return TerminalOutput(drawn, options, job);
  PictureRequest request = PanelsOf(drawn, options.layout);
  if (drawn.size() > 1) {
    const bool one_each = options.layout == Layout::kHeads || request.panels.size() == drawn.size();
    if (one_each) {
      ArrangeByModel(drawn, num_models, options.layout == Layout::kSideBySide, request);
    } else {
      ArrangeByMap(drawn, num_models, request);
    }
  }
  if (job.format.vector) {
    VectorPicture picture = RenderVector(request, options, *job.format.vector);
    TellResults(drawn, picture.constant, picture.notes);
    return std::move(picture.bytes);
  }
  const RenderedPicture rendered = RenderPicture(request, options);
  TellResults(drawn, rendered.constant, rendered.notes);
  EncodeOptions encode;
  encode.codec_module = job.input.decode.codec_module;
  const std::vector<uint8_t> bytes = EncodeImage(rendered.image, job.format.picture_format, encode);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace attnmap
