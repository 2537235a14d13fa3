#ifndef ATTNMAP_PIPELINE_PICTURE_OPTIONS_H_
#define ATTNMAP_PIPELINE_PICTURE_OPTIONS_H_

#include "attnmap/pipeline/run.h"

namespace attnmap {

// Throws UsageError where an option of the picture was given that does nothing
// with the layout or the kind of picture chosen.
void CheckPictureOptions(const MapJob& job);

// What is worth saying where numbers are written: options of the picture may come from a
// configuration file that serves pictures too.
std::vector<std::string> OutputNotes(const MapJob& job);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_PICTURE_OPTIONS_H_
