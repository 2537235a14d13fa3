#ifndef ATTNMAP_IMAGE_CODECS_OPENCV_GUARD_H_
#define ATTNMAP_IMAGE_CODECS_OPENCV_GUARD_H_

// What the modules with OpenCV share; not for the library, which has none.

#include <opencv2/core.hpp>

#include "attnmap/image/module.h"

namespace attnmap {

// As Guarded, with the sentence of an OpenCV error and not all that surrounds it.
template <size_t kSize, typename Work>
int GuardedOpenCv(char* message, Work work) {
  return Guarded<kSize>(message, [&] {
    try {
      return work();
    } catch (const cv::Exception& error) {
      return FailWith<kSize>(message, error.err.c_str());
    }
  });
}

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_CODECS_OPENCV_GUARD_H_
