#ifndef ATTNMAP_PIPELINE_VIDEO_H_
#define ATTNMAP_PIPELINE_VIDEO_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "attnmap/pipeline/run.h"

namespace attnmap {

struct VideoOptions {
  std::string input;   // a film
  std::string output;  // a film, its container by its ending
  ModelOptions model;
  MapJob job;  // the format is not looked at
  std::string video_module;
  const StopFlag* stop = nullptr;
};

// Told after each frame. Where the scale is not given (`range:A,B`) there are
// two passes: all maps first, for the range they share, then the pictures.
struct VideoProgress {
  int pass = 1;
  int num_passes = 1;
  int64_t done = 0;              // frames of this pass
  std::optional<int64_t> total;  // as the film says
};

struct VideoResult {
  MapResult result;  // the range is the whole film's
  int64_t num_frames = 0;
  std::optional<int64_t> claimed;  // what the film says, where clearly more could not be read
  double frames_per_second = 0;
  RowsCols size;  // of the film written
  std::string codec;
};

// Options that contradict each other, found before any file is opened: UsageError.
void CheckVideo(const VideoOptions& options);

// One picture a frame, one scale for all of them: the least of the frames' own
// ranges that holds all. A frame is in memory at a time; maps wait between the
// passes in a file without a name. The film is written beside its target and
// renamed. Throws Interrupted where a stop was asked for, Error naming the film.
VideoResult RunVideo(const VideoOptions& options,
                     const std::function<void(const VideoProgress&)>& report);

// "wrote OUT: 120 frames of 640 x 480 at 25 a second (H.264), ..." in one line.
std::string VideoLine(const VideoResult& result, const VideoOptions& options);

// As JSON; a film that breaks off has failed, and its error is the line.
std::string VideoRecord(const VideoResult& result, const VideoOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_VIDEO_H_
