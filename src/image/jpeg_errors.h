#ifndef ATTNMAP_IMAGE_JPEG_ERRORS_H_
#define ATTNMAP_IMAGE_JPEG_ERRORS_H_

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs size_t and FILE to be declared before it.
#include <jpeglib.h>

#include <string>
#include <type_traits>

#include "attnmap/core/error.h"

namespace attnmap {

// libjpeg reports errors by a function that must not return. This one jumps,
// prints nothing, and keeps the text; of the warnings (num_warnings counts them)
// only those that harm pixels, and the first one's text.
struct JpegErrors {
  jpeg_error_mgr base;  // first: libjpeg hands a pointer to it back
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];
};

// Makes `errors` ready, to be put into info.err.
jpeg_error_mgr* InitJpegErrors(JpegErrors& errors);

// Stops with a sentence of our own, as libjpeg's functions do.
[[noreturn]] void JpegFail(j_common_ptr info, const char* message);

// Calls step(info), in which libjpeg may be used, and throws Error with `prefix`
// before libjpeg's text where that fails. `step` must own nothing: it may be
// left by longjmp. Only then are all frames between here and libjpeg free of
// destructors.
template <typename Info, typename Step>
std::invoke_result_t<Step, Info&> CallJpeg(Info& info, JpegErrors& errors, const char* prefix,
                                           Step step) {
  static_assert(std::is_trivially_destructible_v<Step>);
  if (setjmp(errors.jump) != 0) throw Error(std::string(prefix) + errors.message);
  return step(info);
}

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_JPEG_ERRORS_H_
