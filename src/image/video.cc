#include "attnmap/image/video.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "attnmap/core/error.h"
#include "attnmap/image/module.h"
#include "image/decoders.h"
#include "image/video/video_abi.h"

namespace attnmap {
namespace {

// A container's codecs, the first that is there being taken.
struct Codec {
  const char* ending;
  const char* tag;
  const char* name;
};
constexpr Codec kCodecs[] = {
    {"mp4", "avc1", "H.264"},  {"mp4", "mp4v", "MPEG-4"},      {"mkv", "H264", "H.264"},
    {"mkv", "XVID", "MPEG-4"}, {"avi", "MJPG", "Motion JPEG"},
};

const AttnmapVideo& LoadVideo(const std::string& path) {
  if (path.empty()) {
    throw Error(
        "films need the film module (attnmap-video.so), which is not installed: build attnmap with "
        "OpenCV's videoio (libopencv-videoio-dev)");
  }
  return LoadModule<AttnmapVideo>(path, ATTNMAP_VIDEO_SYMBOL, ATTNMAP_VIDEO_VERSION,
                                  "films need the film module, which");
}

// From the root: a name must not be taken for an address or an option.
std::string FromRoot(const std::string& path) { return std::filesystem::absolute(path).string(); }

std::string Ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

int Even(int side) { return side + side % 2; }

// The last row and column once more.
void Extend(const Image& frame, Image& even) {
  for (int y = 0; y < even.rows; ++y) {
    const uint8_t* from = frame.row(std::min(y, frame.rows - 1));
    const size_t bytes = static_cast<size_t>(frame.cols) * 3;
    std::memcpy(even.row(y), from, bytes);
    if (even.cols > frame.cols) std::memcpy(even.row(y) + bytes, from + bytes - 3, 3);
  }
}

}  // namespace

FilmReader::FilmReader(const std::string& path, bool upright, const std::string& module,
                       int64_t max_pixels)
    : path_(path), module_(&LoadVideo(module)), max_pixels_(max_pixels) {
  AttnmapVideoInfo info = {};
  char message[ATTNMAP_VIDEO_MESSAGE] = {};
  if (module_->open(FromRoot(path).c_str(), upright ? 1 : 0, &reader_, &info, message) != 0) {
    throw Error("cannot read the film '" + path + "': " + message);
  }
  try {  // before a frame is decoded; some films do not say
    if (info.rows > 0 && info.cols > 0) CheckFrame(info.rows, info.cols);
  } catch (...) {
    module_->close(reader_);
    throw;
  }
  if (std::isfinite(info.frames_per_second) && info.frames_per_second > 0) {
    info_.frames_per_second = info.frames_per_second;
  }
  if (info.num_frames > 0) info_.num_frames = info.num_frames;
}

FilmReader::~FilmReader() { module_->close(reader_); }

void FilmReader::CheckFrame(int rows, int cols) const {
  DecodeOptions limit;
  limit.max_pixels = max_pixels_;
  try {
    CheckSize(static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), limit);
  } catch (const Error& error) {
    throw Error("cannot read the film '" + path_ + "': " + error.what());
  }
}

std::optional<Image> FilmReader::Next() {
  AttnmapFrame frame = {};
  char message[ATTNMAP_VIDEO_MESSAGE] = {};
  const AttnmapRead read = module_->read(reader_, &frame, message);
  if (read == kAttnmapReadFails) throw Error("cannot read the film '" + path_ + "': " + message);
  if (read == kAttnmapFilmEnds || frame.rows < 1 || frame.cols < 1) return std::nullopt;
  CheckFrame(frame.rows, frame.cols);
  Image image(frame.rows, frame.cols);
  std::memcpy(image.rgb.data(), frame.rgb, image.rgb.size());
  return image;
}

FilmWriter::FilmWriter(const std::string& path, RowsCols size, double frames_per_second,
                       const std::string& module)
    : path_(path), module_(&LoadVideo(module)), size_(size) {
  const RowsCols even{Even(size.rows), Even(size.cols)};
  if (even != size) even_ = Image(even.rows, even.cols);
  char message[ATTNMAP_VIDEO_MESSAGE] = {};
  const std::string ending = Ending(path);
  for (const Codec& codec : kCodecs) {
    if (codec.ending != ending) continue;
    codec_ = codec.name;
    if (module_->create(FromRoot(path).c_str(), codec.tag, frames_per_second, even.rows, even.cols,
                        &writer_, message) == 0) {
      return;
    }
  }
  throw Error("cannot write a film of " + std::to_string(size.cols) + " x " +
              std::to_string(size.rows) + " pixels as " + ending + ": " + message);
}

FilmWriter::~FilmWriter() {
  if (writer_ != nullptr) module_->finish(writer_);
}

void FilmWriter::Write(const Image& frame) {
  assert(writer_ != nullptr && frame.size() == size_);
  const bool is_even = even_.rows == 0;
  if (!is_even) Extend(frame, even_);
  char message[ATTNMAP_VIDEO_MESSAGE] = {};
  if (module_->write(writer_, is_even ? frame.rgb.data() : even_.rgb.data(), message) != 0) {
    throw Error("cannot write a frame of the film: " + std::string(message));
  }
}

void FilmWriter::Finish() {
  module_->finish(writer_);
  writer_ = nullptr;
}

bool FilmWriter::Knows(const std::string& path) {
  const std::string ending = Ending(path);
  for (const Codec& codec : kCodecs) {
    if (ending == codec.ending) return true;
  }
  return false;
}

std::string FilmWriter::Endings() {
  std::string list;
  for (const Codec& codec : kCodecs) {
    if (list.find(codec.ending) == std::string::npos) {
      list += (list.empty() ? "" : ", ") + std::string(codec.ending);
    }
  }
  return list;
}

}  // namespace attnmap
