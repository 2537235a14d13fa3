#ifndef ATTNMAP_IMAGE_VIDEO_H_
#define ATTNMAP_IMAGE_VIDEO_H_

#include <cstdint>
#include <optional>
#include <string>

#include "attnmap/core/image.h"
#include "attnmap/image/decode.h"

struct AttnmapVideo;  // NOLINT(readability-identifier-naming): the module's table

namespace attnmap {

// Films are read and written through a module of their own (attnmap-video.so),
// loaded when one is wanted. Every function throws Error naming the film, or
// saying that the module is missing.

struct FilmInfo {
  double frames_per_second = 0;       // 0: the film does not say
  std::optional<int64_t> num_frames;  // what the film says; often an estimate
};

// A film's frames, one after the other.
class FilmReader {
 public:
  // `upright`: turn frames as the film asks for (phones). `module`: its path,
  // empty where it is not installed. Frames of more than `max_pixels` are refused.
  FilmReader(const std::string& path, bool upright, const std::string& module,
             int64_t max_pixels = DecodeOptions{}.max_pixels);
  ~FilmReader();
  FilmReader(const FilmReader&) = delete;
  FilmReader& operator=(const FilmReader&) = delete;

  const FilmInfo& info() const { return info_; }
  // Nothing at the end, or where no more can be decoded: the two cannot be
  // told apart but by the number of frames.
  std::optional<Image> Next();

 private:
  void CheckFrame(int rows, int cols) const;

  std::string path_;
  const AttnmapVideo* module_ = nullptr;
  int64_t max_pixels_ = 0;
  void* reader_ = nullptr;
  FilmInfo info_;
};

// Writes a film without sound. Its container and codec are those of the path's
// ending: mp4 and mkv (H.264, else MPEG-4), avi (Motion JPEG).
class FilmWriter {
 public:
  // frames_per_second: above 0. Codecs want even sides: where `size` is odd the
  // last row or column is written twice.
  FilmWriter(const std::string& path, RowsCols size, double frames_per_second,
             const std::string& module);
  ~FilmWriter();
  FilmWriter(const FilmWriter&) = delete;
  FilmWriter& operator=(const FilmWriter&) = delete;

  // REQUIRES: the frame has the size.
  void Write(const Image& frame);
  // Closes the file; no frame may follow. Without it the file is not whole.
  void Finish();

  const std::string& codec() const { return codec_; }                      // "H.264", ...
  RowsCols size() const { return even_.rows > 0 ? even_.size() : size_; }  // of the film

  // Whether the ending is one of those above; the list of them, "mp4, mkv, avi".
  static bool Knows(const std::string& path);
  static std::string Endings();

 private:
  std::string path_;
  const AttnmapVideo* module_ = nullptr;
  void* writer_ = nullptr;
  RowsCols size_;
  Image even_;  // the frame with even sides; empty where it has them already
  std::string codec_;
};

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_VIDEO_H_
