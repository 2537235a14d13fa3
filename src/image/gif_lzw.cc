#include "image/gif_lzw.h"

#include <algorithm>
#include <bit>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr int kMaxBits = 12;
constexpr int kTableSize = 1 << kMaxBits;

// Codes of a growing number of bits, low bits first, across sub-blocks.
class CodeReader {
 public:
  explicit CodeReader(Bytes blocks) : blocks_(blocks) {}

  // -1 at the end of the data.
  int Next(int bits) {
    while (num_bits_ < bits) {
      const int byte = NextByte();
      if (byte < 0) return -1;
      buffer_ |= static_cast<uint32_t>(byte) << num_bits_;
      num_bits_ += 8;
    }
    const int code = static_cast<int>(buffer_ & ((1u << bits) - 1));
    buffer_ >>= bits;
    num_bits_ -= bits;
    return code;
  }

 private:
  int NextByte() {
    if (left_ == 0) {
      if (at_ >= blocks_.size() || blocks_[at_] == 0) return -1;
      left_ = blocks_[at_++];
    }
    if (at_ >= blocks_.size()) return -1;
    --left_;
    return blocks_[at_++];
  }

  Bytes blocks_;
  size_t at_ = 0;
  size_t left_ = 0;  // of the current sub-block
  uint32_t buffer_ = 0;
  int num_bits_ = 0;
};

// The strings seen so far, each a shorter one and a last index.
class Table {
 public:
  explicit Table(int code_size) : clear_(1 << code_size) {
    for (int i = 0; i < clear_; ++i) entries_[i] = {0, static_cast<uint8_t>(i), 1};
    Reset();
  }
  void Reset() {
    next_ = clear_ + 2;
    last_ = -1;
  }
  int clear_code() const { return clear_; }
  int end_code() const { return clear_ + 1; }
  // Codes up to the next one to be given must fit.
  int bits() const {
    return std::min<int>(kMaxBits, static_cast<int>(std::bit_width(static_cast<unsigned>(next_))));
  }

  // Appends the string of `code`, learning one on the way; false for a code
  // that stands for nothing.
  bool Append(int code, std::vector<uint8_t>& out) {
    if (code > next_ || (last_ < 0 && code >= clear_)) return false;
    const bool unknown = code == next_;  // it is the last string and its own first index
    if (unknown && next_ >= kTableSize) return false;
    const int known = unknown ? last_ : code;
    const size_t begin = out.size();
    out.resize(begin + entries_[known].length);
    size_t at = out.size();
    for (int c = known; at > begin; c = entries_[c].prefix) out[--at] = entries_[c].index;
    const uint8_t first = out[begin];
    if (unknown) out.push_back(first);
    if (last_ >= 0 && next_ < kTableSize) {
      entries_[next_++] = {static_cast<uint16_t>(last_), first,
                           static_cast<uint16_t>(entries_[last_].length + 1)};
    }
    last_ = code;
    return true;
  }

 private:
  struct Entry {
    uint16_t prefix;
    uint8_t index;
    uint16_t length;
  };
  Entry entries_[kTableSize] = {};
  int clear_;
  int next_ = 0;
  int last_ = -1;
};

}  // namespace

std::vector<uint8_t> DecodeGifLzw(Bytes blocks, int code_size, size_t count) {
  if (code_size < 2 || code_size > 8) {
    throw Error("broken GIF: a code size of " + std::to_string(code_size) + "; expected 2 to 8");
  }
  CodeReader reader(blocks);
  Table table(code_size);
  std::vector<uint8_t> out;
  out.reserve(std::min(count, blocks.size() * 4));
  while (out.size() < count) {
    const int code = reader.Next(table.bits());
    if (code < 0 || code == table.end_code()) {
      throw Error("truncated GIF: its pixel data ends after " + std::to_string(out.size()) +
                  " of " + std::to_string(count) + " pixels");
    }
    if (code == table.clear_code()) {
      table.Reset();
    } else if (!table.Append(code, out)) {
      throw Error("broken GIF: its pixel data makes no sense");
    }
  }
  out.resize(count);
  return out;
}

}  // namespace attnmap
