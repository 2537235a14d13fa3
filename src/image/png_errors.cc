#include "image/png_errors.h"

#include <cstdio>

namespace attnmap {

void OnPngError(png_structp png, png_const_charp message) {
  auto* errors = static_cast<PngErrors*>(png_get_error_ptr(png));
  std::snprintf(errors->message, sizeof errors->message, "%s", message);
  std::longjmp(errors->jump, 1);
}

void OnPngWarning(png_structp, png_const_charp) {}

}  // namespace attnmap
