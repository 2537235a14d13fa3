#ifndef ATTNMAP_IMAGE_VIDEO_VIDEO_ABI_H_
#define ATTNMAP_IMAGE_VIDEO_VIDEO_ABI_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

// What the library and the film module say to each other: plain C, so that the
// module may be built by another compiler and no exception crosses over.

#define ATTNMAP_VIDEO_VERSION 2
#define ATTNMAP_VIDEO_SYMBOL "attnmap_video"

#ifdef __cplusplus
extern "C" {
#endif

struct AttnmapVideoInfo {
  double frames_per_second;  // 0 or less: the film does not say
  int64_t num_frames;        // what the film says, often an estimate; 0 or less: nothing
  int32_t rows;              // of a frame as it is stored; 0 or less: the film does not say
  int32_t cols;
};

struct AttnmapFrame {
  int32_t rows;
  int32_t cols;
  const uint8_t* rgb;  // rows * cols * 3; valid until the next call with this reader
};

enum AttnmapRead {
  kAttnmapFrame = 0,
  kAttnmapFilmEnds = 1,
  kAttnmapReadFails = 2,
};

// Functions that return an int give 0, or another number and a sentence in `message`.
#define ATTNMAP_VIDEO_MESSAGE 256
struct AttnmapVideo {
  uint32_t version;  // ATTNMAP_VIDEO_VERSION

  // upright: 0 leaves frames as they are stored, whatever the film says about turning.
  int (*open)(const char* path, int32_t upright, void** reader, struct AttnmapVideoInfo* info,
              char* message);
  enum AttnmapRead (*read)(void* reader, struct AttnmapFrame* frame, char* message);
  void (*close)(void* reader);

  // codec: four characters. Not 0 where the container or codec is not there.
  int (*create)(const char* path, const char* codec, double frames_per_second, int32_t rows,
                int32_t cols, void** writer, char* message);
  int (*write)(void* writer, const uint8_t* rgb, char* message);
  void (*finish)(void* writer);
};

// The module's only symbol.
// NOLINTNEXTLINE(modernize-use-using,modernize-redundant-void-arg)
typedef const struct AttnmapVideo* (*AttnmapVideoEntry)(void);

#ifdef __cplusplus
}
#endif

#endif  // ATTNMAP_IMAGE_VIDEO_VIDEO_ABI_H_
