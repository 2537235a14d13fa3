#ifndef ATTNMAP_RENDER_BASE64_H_
#define ATTNMAP_RENDER_BASE64_H_

#include <cstdint>
#include <span>
#include <string>

namespace attnmap {

// RFC 4648, padded.
std::string Base64(std::span<const uint8_t> bytes);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_BASE64_H_
