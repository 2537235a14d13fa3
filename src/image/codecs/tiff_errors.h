#ifndef ATTNMAP_IMAGE_CODECS_TIFF_ERRORS_H_
#define ATTNMAP_IMAGE_CODECS_TIFF_ERRORS_H_

namespace attnmap {

// OpenCV reads 8-bit TIFF through libtiff's RGBA interface, which goes on after
// an error and leaves the rest of the picture black; the error only reaches
// libtiff's handler. From this call on such errors are kept, a thread each.
// Where libtiff cannot be reached, none ever is.
void WatchTiffErrors();

void ForgetTiffError();
// The first since ForgetTiffError, or null.
const char* TiffError();

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_CODECS_TIFF_ERRORS_H_
