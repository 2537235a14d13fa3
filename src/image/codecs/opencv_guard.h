#ifndef ATTNMAP_IMAGE_CODECS_OPENCV_GUARD_H_
#define ATTNMAP_IMAGE_CODECS_OPENCV_GUARD_H_

// What the modules behind C tables share; not for the library, which has no OpenCV.

#include <cstdio>
#include <exception>
#include <opencv2/core.hpp>

namespace attnmap {

// Fills a table's message, and is what a function that fails returns.
template <size_t kSize>
int FailWith(char* message, const char* text) {
  std::snprintf(message, kSize, "%s", text);
  return 1;
}

// Runs `work` so that nothing is thrown past it; what it returns, or 1.
template <size_t kSize, typename Work>
int Guarded(char* message, Work work) {
  try {
    return work();
  } catch (const cv::Exception& error) {
    return FailWith<kSize>(message, error.err.c_str());
  } catch (const std::exception& error) {
    return FailWith<kSize>(message, error.what());
  } catch (...) {
    return FailWith<kSize>(message, "an unknown error");
  }
}

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_CODECS_OPENCV_GUARD_H_
