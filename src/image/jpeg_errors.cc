#include "image/jpeg_errors.h"

#include <jerror.h>

#include <cstdio>

namespace attnmap {
namespace {

// Odd bytes between markers and odd headers leave the picture whole.
bool HarmsPixels(int code) {
  return code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR;
}

JpegErrors& ErrorsOf(j_common_ptr info) { return *reinterpret_cast<JpegErrors*>(info->err); }

[[noreturn]] void OnError(j_common_ptr info) {
  JpegErrors& errors = ErrorsOf(info);
  errors.base.format_message(info, errors.message);
  std::longjmp(errors.jump, 1);
}

void OnMessage(j_common_ptr info, int level) {
  if (level >= 0 || !HarmsPixels(info->err->msg_code)) return;
  JpegErrors& errors = ErrorsOf(info);
  if (errors.base.num_warnings++ == 0) errors.base.format_message(info, errors.warning);
}

}  // namespace

jpeg_error_mgr* InitJpegErrors(JpegErrors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = OnError;
  errors.base.emit_message = OnMessage;
  return &errors.base;
}

void JpegFail(j_common_ptr info, const char* message) {
  JpegErrors& errors = ErrorsOf(info);
  std::snprintf(errors.message, sizeof errors.message, "%s", message);
  std::longjmp(errors.jump, 1);
}

}  // namespace attnmap
