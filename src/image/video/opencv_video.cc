// The film module: OpenCV's videoio behind a plain C table. It is loaded when a
// film is to be read or written, because loading videoio pulls in more than two
// hundred shared libraries.

#include <dlfcn.h>

#include <cstdarg>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "image/codecs/opencv_guard.h"
#include "image/video/video_abi.h"

namespace attnmap {
namespace {

struct Reader {
  cv::VideoCapture film;
  cv::Mat stored;  // blue first
  cv::Mat rgb;
  int degrees = 0;  // how far a frame is turned clockwise to stand upright
  cv::Mat turned;
};

struct Writer {
  cv::VideoWriter film;
  cv::Mat stored;
  int rows = 0;
  int cols = 0;
};

int Fail(char* message, const char* text) { return FailWith<ATTNMAP_VIDEO_MESSAGE>(message, text); }

// What the film says, for frames to stand upright: degrees clockwise. OpenCV 4.6
// has the sign wrong, both here and where it turns frames itself (its issue 22088).
int DegreesOf(const cv::VideoCapture& film) {
  constexpr int kFull = 360;
  const int told = static_cast<int>(film.get(cv::CAP_PROP_ORIENTATION_META));
  const bool wrong_sign = cv::getVersionMajor() == 4 && cv::getVersionMinor() == 6;
  return ((wrong_sign ? -told : told) % kFull + kFull) % kFull;
}

const cv::Mat& Upright(Reader& from) {
  switch (from.degrees) {
    case 90:
      cv::rotate(from.stored, from.turned, cv::ROTATE_90_CLOCKWISE);
      return from.turned;
    case 180:
      cv::rotate(from.stored, from.turned, cv::ROTATE_180);
      return from.turned;
    case 270:
      cv::rotate(from.stored, from.turned, cv::ROTATE_90_COUNTERCLOCKWISE);
      return from.turned;
    default:
      return from.stored;
  }
}

int Open(const char* path, int32_t upright, void** reader, AttnmapVideoInfo* info, char* message) {
  return GuardedOpenCv<ATTNMAP_VIDEO_MESSAGE>(message, [&] {
    auto opened = std::make_unique<Reader>();
    // FFmpeg alone: other back ends take cameras, addresses and pipelines.
    if (!opened->film.open(path, cv::CAP_FFMPEG)) {
      return Fail(message, "it is no film, or of a kind that FFmpeg cannot read");
    }
    opened->film.set(cv::CAP_PROP_ORIENTATION_AUTO, 0);
    if (upright != 0) opened->degrees = DegreesOf(opened->film);
    info->frames_per_second = opened->film.get(cv::CAP_PROP_FPS);
    info->num_frames = static_cast<int64_t>(opened->film.get(cv::CAP_PROP_FRAME_COUNT));
    info->rows = static_cast<int32_t>(opened->film.get(cv::CAP_PROP_FRAME_HEIGHT));
    info->cols = static_cast<int32_t>(opened->film.get(cv::CAP_PROP_FRAME_WIDTH));
    *reader = opened.release();
    return 0;
  });
}

AttnmapRead Read(void* reader, AttnmapFrame* frame, char* message) {
  auto& from = *static_cast<Reader*>(reader);
  AttnmapRead result = kAttnmapReadFails;
  GuardedOpenCv<ATTNMAP_VIDEO_MESSAGE>(message, [&] {
    if (!from.film.read(from.stored) || from.stored.empty()) {
      result = kAttnmapFilmEnds;
      return 0;
    }
    cv::cvtColor(Upright(from), from.rgb, cv::COLOR_BGR2RGB);
    *frame = {from.rgb.rows, from.rgb.cols, from.rgb.data};
    result = kAttnmapFrame;
    return 0;
  });
  return result;
}

void Close(void* reader) { delete static_cast<Reader*>(reader); }

int Create(const char* path, const char* codec, double frames_per_second, int32_t rows,
           int32_t cols, void** writer, char* message) {
  return GuardedOpenCv<ATTNMAP_VIDEO_MESSAGE>(message, [&] {
    auto created = std::make_unique<Writer>();
    created->rows = rows;
    created->cols = cols;
    const int tag = cv::VideoWriter::fourcc(codec[0], codec[1], codec[2], codec[3]);
    if (!created->film.open(path, cv::CAP_FFMPEG, tag, frames_per_second, {cols, rows})) {
      return Fail(message, "FFmpeg has no such container or codec here");
    }
    *writer = created.release();
    return 0;
  });
}

int Write(void* writer, const uint8_t* rgb, char* message) {
  auto& to = *static_cast<Writer*>(writer);
  return GuardedOpenCv<ATTNMAP_VIDEO_MESSAGE>(message, [&] {
    const cv::Mat frame(to.rows, to.cols, CV_8UC3, const_cast<uint8_t*>(rgb));
    cv::cvtColor(frame, to.stored, cv::COLOR_RGB2BGR);
    to.film.write(to.stored);
    return 0;
  });
}

void Finish(void* writer) { delete static_cast<Writer*>(writer); }

// FFmpeg says on standard error what it makes of a broken film; our own line is enough.
void Silence(void*, int, const char*, va_list) {}

void SilenceFfmpeg() {
  // As FFmpeg's header (whose package we do not ask for) declares it.
  using Callback = void (*)(void*, int, const char*, va_list);
  using SetCallback = void (*)(Callback);
  const auto set = reinterpret_cast<SetCallback>(dlsym(RTLD_DEFAULT, "av_log_set_callback"));
  if (set != nullptr) set(Silence);
}

constexpr AttnmapVideo kVideo = {ATTNMAP_VIDEO_VERSION, Open, Read, Close, Create, Write, Finish};

}  // namespace
}  // namespace attnmap

extern "C" __attribute__((visibility("default"))) const AttnmapVideo* attnmap_video() {
  try {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    attnmap::SilenceFfmpeg();
  } catch (...) {
    return nullptr;
  }
  return &attnmap::kVideo;
}
