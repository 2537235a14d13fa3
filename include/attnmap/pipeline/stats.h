#ifndef ATTNMAP_PIPELINE_STATS_H_
#define ATTNMAP_PIPELINE_STATS_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/analysis/statistics.h"
#include "attnmap/pipeline/run.h"

namespace attnmap {

struct StatsOptions {
  std::vector<std::string> images;
  ModelOptions model;
  InputOptions input;
  SelectionOptions selection;  // heads one by one; of queries, one token for the outlier mass
  std::string output;          // file to write to; empty: none
  ArrayFormat format = ArrayFormat::kCsv;  // of that: kCsv or kJson
  std::string figure;                      // picture file of StatsFigure; empty: none
  PictureFormat figure_format = PictureFormat::kPng;
  std::string font;                         // path of the font for its labels
  std::vector<std::string> fallback_fonts;  // asked in turn for letters it does not have
};

// The numbers of one picture, a record a layer and head.
struct ImageStatistics {
  std::string image;
  TokenLayout tokens;
  PatchGrid grid;
  std::string query;  // whose row outlier_mass looks at; empty: none
  std::vector<HeadStatistics> heads;
  std::vector<std::string> notes;
};

// Options that contradict each other, found before any file is opened: UsageError.
void CheckStats(const StatsOptions& options);

// One picture after the other, each handed over as soon as it is done; files
// are written when all are. Returns all of them. Throws Error naming the first
// picture that cannot be read.
std::vector<ImageStatistics> RunStats(const StatsOptions& options,
                                      const std::function<void(const ImageStatistics&)>& on_image);

// As a person reads it: a line a head, and one a layer with the means.
std::string StatsTable(const ImageStatistics& statistics);
// A JSON object a line; null for what a model does not have.
std::string StatsJsonLines(const ImageStatistics& statistics);
// The same objects as one JSON array, of all pictures.
std::string StatsJson(std::span<const ImageStatistics> all);
// A line of names, then a line a record, fields as in JSON; empty for null. By
// RFC 4180, but for the line ends, which are one character.
std::string StatsCsv(std::span<const ImageStatistics> all);

// Attention distance and entropy, a dot a head over the layers, as in
// Dosovitskiy et al. 2021, fig. 7; of several pictures the mean of each head.
// `font`: path of the font for labels; `fallback_fonts` are asked in turn for
// letters it does not have. REQUIRES: at least one picture.
Image StatsFigure(std::span<const ImageStatistics> all, const std::string& font,
                  const std::vector<std::string>& fallback_fonts = {});

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_STATS_H_
