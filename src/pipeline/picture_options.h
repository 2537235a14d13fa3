#ifndef ATTNMAP_PIPELINE_PICTURE_OPTIONS_H_
#define ATTNMAP_PIPELINE_PICTURE_OPTIONS_H_

#include "attnmap/pipeline/run.h"

namespace attnmap {

// Throws UsageError where an option of the picture was given that does nothing
// with the layout or the output chosen.
void CheckPictureOptions(const MapJob& job);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_PICTURE_OPTIONS_H_
