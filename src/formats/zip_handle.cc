#include "formats/zip_handle.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cstring>

namespace attnmap {
namespace {

using Stream = ZipHandle::Stream;

// `opaque` is the stream; so is what "opening" returns.
voidpf OpenStream(voidpf opaque, const void* /*name*/, int /*mode*/) { return opaque; }

uLong ReadStream(voidpf /*opaque*/, voidpf stream, void* buffer, uLong size) {
  auto& s = *static_cast<Stream*>(stream);
  if (s.position >= s.bytes.size()) return 0;
  const size_t count = std::min<size_t>(size, s.bytes.size() - s.position);
  std::memcpy(buffer, s.bytes.data() + s.position, count);
  s.position += count;
  return static_cast<uLong>(count);
}

uLong WriteNothing(voidpf, voidpf, const void*, uLong) { return 0; }

ZPOS64_T TellStream(voidpf /*opaque*/, voidpf stream) {
  return static_cast<Stream*>(stream)->position;
}

long SeekStream(voidpf /*opaque*/, voidpf stream, ZPOS64_T offset, int origin) {
  auto& s = *static_cast<Stream*>(stream);
  const uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? s.position
                        : origin == ZLIB_FILEFUNC_SEEK_END ? s.bytes.size()
                                                           : 0;
  if (offset > s.bytes.size() || base > s.bytes.size() - offset) return -1;
  s.position = base + offset;
  return 0;
}

int CloseStream(voidpf, voidpf) { return 0; }
int StreamError(voidpf, voidpf) { return 0; }

}  // namespace

ZipHandle::ZipHandle(std::span<const uint8_t> bytes) : stream_{bytes, 0} {
  zlib_filefunc64_def functions{};
  functions.zopen64_file = OpenStream;
  functions.zread_file = ReadStream;
  functions.zwrite_file = WriteNothing;
  functions.ztell64_file = TellStream;
  functions.zseek64_file = SeekStream;
  functions.zclose_file = CloseStream;
  functions.zerror_file = StreamError;
  functions.opaque = &stream_;
  handle_ = unzOpen2_64("", &functions);
}

ZipHandle::~ZipHandle() {
  if (handle_ != nullptr) unzClose(handle_);
}

}  // namespace attnmap
