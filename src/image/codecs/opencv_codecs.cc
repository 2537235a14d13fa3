// The codec module: OpenCV's imgcodecs behind a plain C table. It is loaded
// when a picture comes that the library does not read itself, because loading
// imgcodecs pulls in more than a hundred shared libraries.

#include <algorithm>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <utility>
#include <vector>

#include "image/codecs/codec_abi.h"
#include "image/codecs/opencv_guard.h"
#include "image/codecs/quiet.h"
#include "image/codecs/tiff_errors.h"

namespace attnmap {
namespace {

int Fail(char* message, const char* text) {
  return FailWith<ATTNMAP_CODECS_MESSAGE>(message, text);
}

// Runs `work` so that nothing is thrown or printed past it.
template <typename Work>
int Quietly(char* message, Work work) {
  return GuardedOpenCv<ATTNMAP_CODECS_MESSAGE>(message, [&] {
    const Quiet quiet;
    return work();
  });
}

// OpenCV keeps blue first.
template <typename Sample>
void SwapRedAndBlue(cv::Mat& picture) {
  const int channels = picture.channels();
  for (int y = 0; y < picture.rows; ++y) {
    auto* sample = picture.ptr<Sample>(y);
    for (int x = 0; x < picture.cols; ++x, sample += channels) std::swap(sample[0], sample[2]);
  }
}

int Hand(cv::Mat picture, AttnmapSamples* out, char* message) {
  if (picture.empty()) return Fail(message, "it cannot be decoded");
  const int depth = picture.depth();
  if (depth != CV_8U && depth != CV_16U) {
    return Fail(message, "its samples are neither 8 nor 16 bits of unsigned integer");
  }
  if (!picture.isContinuous()) picture = picture.clone();
  if (picture.channels() >= 3) {
    depth == CV_8U ? SwapRedAndBlue<uint8_t>(picture) : SwapRedAndBlue<uint16_t>(picture);
  }
  auto owner = std::make_unique<cv::Mat>(std::move(picture));
  *out = {owner->rows, owner->cols, owner->channels(), depth == CV_8U ? 8 : 16,
          owner->data, owner.get()};
  static_cast<void>(owner.release());
  return 0;
}

int Decode(const uint8_t* bytes, uint64_t size, AttnmapReadAs read_as, AttnmapSamples* out,
           char* message) {
  return Quietly(message, [&] {
    if (size > static_cast<uint64_t>(INT32_MAX)) return Fail(message, "the file is over 2 GiB");
    // A view: OpenCV reads the bytes and does not keep them.
    const cv::Mat file(1, static_cast<int>(size), CV_8UC1, const_cast<uint8_t*>(bytes));
    const int flags = read_as == kAttnmapReadColor
                          ? cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION
                          : cv::IMREAD_UNCHANGED;
    ForgetTiffError();
    cv::Mat picture = cv::imdecode(file, flags);
    if (const char* error = TiffError()) return Fail(message, error);
    return Hand(std::move(picture), out, message);
  });
}

void Release(AttnmapSamples* samples) {
  delete static_cast<cv::Mat*>(samples->owner);
  *samples = {};
}

int EncodeTiff(const uint8_t* rgb, int32_t rows, int32_t cols, AttnmapEncoded* out, char* message) {
  return Quietly(message, [&] {
    cv::Mat picture = cv::Mat(rows, cols, CV_8UC3, const_cast<uint8_t*>(rgb)).clone();
    SwapRedAndBlue<uint8_t>(picture);
    auto file = std::make_unique<std::vector<uint8_t>>();
    if (!cv::imencode(".tiff", picture, *file)) return Fail(message, "OpenCV cannot write it");
    *out = {file->size(), file->data(), file.get()};
    static_cast<void>(file.release());
    return 0;
  });
}

void ReleaseEncoded(AttnmapEncoded* encoded) {
  delete static_cast<std::vector<uint8_t>*>(encoded->owner);
  *encoded = {};
}

constexpr AttnmapCodecs kCodecs = {ATTNMAP_CODECS_VERSION, Decode, Release, EncodeTiff,
                                   ReleaseEncoded};

}  // namespace
}  // namespace attnmap

extern "C" __attribute__((visibility("default"))) const AttnmapCodecs* attnmap_codecs() {
  try {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    attnmap::WatchTiffErrors();
  } catch (...) {
    return nullptr;
  }
  return &attnmap::kCodecs;
}
