#include "image/codecs/tiff_errors.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "image/codecs/quiet.h"

namespace attnmap {
namespace {

thread_local char first_error[200];

// A tag that cannot be read is no harm to the pixels, or OpenCV gives up itself.
bool IsAboutTags(const char* where) {
  return where != nullptr && (std::strncmp(where, "TIFFFetch", 9) == 0 ||
                              std::strncmp(where, "TIFFReadDirectory", 17) == 0);
}

void OnTiffError(const char* where, const char* format, va_list values) {
  if (first_error[0] != 0 || IsAboutTags(where)) return;
  std::vsnprintf(first_error, sizeof first_error, format, values);
}

// As libtiff's header (whose package we do not ask for) declares them.
using ErrorHandler = void (*)(const char*, const char*, va_list);
using SetErrorHandler = ErrorHandler (*)(ErrorHandler);

}  // namespace

void WatchTiffErrors() {
  const auto set = reinterpret_cast<SetErrorHandler>(dlsym(RTLD_DEFAULT, "TIFFSetErrorHandler"));
  if (set == nullptr) return;
  // OpenCV sets its own handler when it first meets a TIFF: let it do so now.
  const Quiet quiet;
  const std::vector<uint8_t> header = {'I', 'I', '*', 0, 0, 0, 0, 0};
  cv::imdecode(header, cv::IMREAD_COLOR);
  set(OnTiffError);
}

void ForgetTiffError() { first_error[0] = 0; }

const char* TiffError() { return first_error[0] != 0 ? first_error : nullptr; }

}  // namespace attnmap
