#ifndef ATTNMAP_PIPELINE_SESSION_H_
#define ATTNMAP_PIPELINE_SESSION_H_

#include <string>
#include <vector>

#include "attnmap/core/image.h"
#include "attnmap/core/model_input.h"
#include "attnmap/core/stop.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/pipeline/options.h"

namespace attnmap {

// Opens, recognises and checks the weights. Throws Error naming the file.
VitModel LoadModel(const ModelOptions& options);

// Throws Error where this machine is not made for the precision.
void CheckPrecision(Precision precision);

// The same, ready to run as the selection asks; `reuse` as PreparedModel has it.
// Checks the precision first.
PreparedModel PrepareModel(const ModelOptions& options, const SelectionOptions& selection,
                           bool reuse);

// One picture, as the model sees it and as the user does.
struct LoadedInput {
  ModelInput input;
  Image picture;  // upright; empty (0 x 0) for prepared pixels without --on
  std::vector<std::string> notes;
  bool has_picture() const { return picture.rows > 0; }
};

// Reads a picture file, or prepared pixels (.npy), "-" being standard input.
// Throws Error naming the file.
LoadedInput LoadInput(const std::string& path, const InputOptions& options, const VitModel& model);

// Throws UsageError for prepared pixels without a picture to draw on.
void CheckHasPicture(const LoadedInput& input);
// The same of a picture that is in memory already; `path` is for messages.
LoadedInput LoadImage(Image picture, const std::string& path, const InputOptions& options,
                      const VitModel& model);

// A picture file alone, upright.
Image LoadPicture(const std::string& path, const DecodeOptions& options,
                  std::vector<std::string>& notes);

// The grid a model's tokens have for an input, ready for ResolveQuery.
ResolvedQuery ResolveQueryFor(const QueryChoice& choice, const VitModel& model,
                              const ModelInput& input);

// Whether two paths lead to one file, there or not.
bool SameFile(const std::string& a, const std::string& b);

// Throws UsageError where `output` is one of `inputs` (pictures, films) or a file that one of
// `models` (weights files, folders) is read from.
void CheckOutput(const std::string& output, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& models);

// Removes what outputs are written to before they have their names. For a signal
// handler that ends the process; safe there.
void RemoveUnfinishedOutputs();

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_SESSION_H_
