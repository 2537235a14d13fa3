#ifndef ATTNMAP_IMAGE_PREPARE_H_
#define ATTNMAP_IMAGE_PREPARE_H_

#include "attnmap/core/image.h"
#include "attnmap/core/model_input.h"
#include "attnmap/core/preprocess.h"

namespace attnmap {

// What preparing needs to know of a model.
struct InputSpec {
  Preprocess preprocess;
  int patch_size = 16;
  RowsCols model_size = {224, 224};  // what its preprocessing ends with, else image_size, ...
};

// The image as the model wants it, by the user's choice of fit (the rules are
// in docs/preprocessing.md: whole, crop, stretch, pad). Notes say what was done.
// Throws Error where sides are not whole patches (naming the nearest that are)
// or the result would be out of all proportion, UsageError where the options
// do not go together.
ModelInput PrepareImage(const Image& image, const InputSpec& spec, const FitOptions& options);

// The 8-bit picture that PrepareImage would normalise (before the mean and
// standard deviation), for tests and for showing what the model saw.
Image PreparedPicture(const Image& image, const InputSpec& spec, const FitOptions& options);

// Prepared pixels that came as an array: (3, rows, cols) or (1, 3, rows, cols),
// finite, whole patches. `on`: the size of the picture they cover, if any.
// Throws Error where the array is anything else.
ModelInput PrepareTensor(Tensor pixels, int patch_size, RowsCols on = {});

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_PREPARE_H_
