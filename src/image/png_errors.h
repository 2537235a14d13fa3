#ifndef ATTNMAP_IMAGE_PNG_ERRORS_H_
#define ATTNMAP_IMAGE_PNG_ERRORS_H_

#include <png.h>

#include <csetjmp>
#include <string>
#include <type_traits>

#include "attnmap/core/error.h"

namespace attnmap {

// What libpng's error function needs: it must not return, so it jumps.
struct PngErrors {
  std::jmp_buf jump;
  char message[128];
};

// To be given to png_create_read_struct and png_create_write_struct together
// with a PngErrors. Warnings are dropped.
[[noreturn]] void OnPngError(png_structp png, png_const_charp message);
void OnPngWarning(png_structp png, png_const_charp message);

// Calls step(), in which libpng may be used, and throws Error with `prefix`
// before libpng's text where that fails. `step` must own nothing: it may be left
// by longjmp.
template <typename Step>
std::invoke_result_t<Step> CallPng(PngErrors& errors, const char* prefix, Step step) {
  static_assert(std::is_trivially_destructible_v<Step>);
  if (setjmp(errors.jump) != 0) throw Error(std::string(prefix) + errors.message);
  return step();
}

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_PNG_ERRORS_H_
