#ifndef ATTNMAP_PIPELINE_RESOURCES_H_
#define ATTNMAP_PIPELINE_RESOURCES_H_

#include <string>
#include <vector>

namespace attnmap {

// What ships with the program (and what else a machine may have), found relative to the program
// itself: beside it in the build folder, below ../share and ../lib once installed. Empty where it
// is not there.
struct Resources {
  std::string demo_model;  // weights used when none are named
  std::string font;        // for labels in pictures
  // Fonts of the machine for scripts that font lacks, those that are there.
  std::vector<std::string> fallback_fonts;
  std::string codec_module;  // the reader of less common picture formats
  std::string video_module;  // the reader and writer of films
  std::string pdf_module;    // the writer of PDF
};

Resources FindResources();

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_RESOURCES_H_
