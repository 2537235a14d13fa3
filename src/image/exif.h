#ifndef ATTNMAP_IMAGE_EXIF_H_
#define ATTNMAP_IMAGE_EXIF_H_

#include "image/decoders.h"

namespace attnmap {

// The orientation (1..8) that EXIF data asks for, with or without "Exif\0\0" in
// front; 1 where there is none, or it is out of range, or the data is broken.
// Never throws.
int ExifOrientation(Bytes exif);

// The picture turned upright (EXIF 2.32, tag 0x0112). 1 returns it untouched.
Image Upright(Image stored, int orientation);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_EXIF_H_
