#include "render/text_order.h"

#include <algorithm>
#include <cstdint>

namespace attnmap {
namespace {

// How many forms each letter from U+0621 on has in the block that begins at
// U+FE80: 1 alone, 2 alone and final, 4 also initial and medial. 0: not a letter.
constexpr char32_t kFirstLetter = 0x621;
constexpr char32_t kFirstForm = 0xFE80;
constexpr uint8_t kForms[] = {1, 2, 2, 2, 2, 4, 2, 4, 2, 4, 4, 4, 4, 4, 2, 2, 2, 2, 4, 4, 4,
                              4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 2, 2, 4};
constexpr size_t kNumLetters = sizeof(kForms);

int NumForms(char32_t code) {
  const bool letter = code >= kFirstLetter && code < kFirstLetter + kNumLetters;
  return letter ? kForms[code - kFirstLetter] : 0;
}

char32_t FormOf(char32_t code, bool joins_before, bool joins_after) {
  char32_t form = kFirstForm;
  for (char32_t c = kFirstLetter; c < code; ++c) form += kForms[c - kFirstLetter];
  if (NumForms(code) == 4 && joins_after) return form + (joins_before ? 3 : 2);
  return form + (joins_before && NumForms(code) > 1 ? 1 : 0);
}

// Marks stand over the letter before them and do not break a word.
bool IsMark(char32_t code) { return (code >= 0x64B && code <= 0x65F) || code == 0x670; }

// The lam-alef ligature's form alone (its final one follows); 0: none.
char32_t LamAlef(char32_t alef) {
  switch (alef) {
    case 0x622:
      return 0xFEF5;
    case 0x623:
      return 0xFEF7;
    case 0x625:
      return 0xFEF9;
    case 0x627:
      return 0xFEFB;
    default:
      return 0;
  }
}

std::u32string Joined(const std::u32string& codes) {
  constexpr char32_t kLam = 0x644;
  std::u32string joined;
  bool before = false;  // the letter before reaches out to this one
  for (size_t i = 0; i < codes.size(); ++i) {
    const char32_t code = codes[i];
    if (IsMark(code)) {
      joined += code;
      continue;
    }
    size_t next = i + 1;
    while (next < codes.size() && IsMark(codes[next])) ++next;
    const char32_t following = next < codes.size() ? codes[next] : 0;
    const char32_t ligature = code == kLam ? LamAlef(following) : 0;
    if (ligature != 0) {
      joined += static_cast<char32_t>(ligature + (before ? 1 : 0));
      before = false;  // alef ends a run
      i = next;
    } else if (NumForms(code) == 0) {
      joined += code;
      before = code == 0x640;  // the stroke that lengthens words joins
    } else {
      const bool after = NumForms(code) == 4 && (NumForms(following) > 1 || following == 0x640);
      joined += FormOf(code, before, after);
      before = NumForms(code) == 4;
    }
  }
  return joined;
}

bool IsRightToLeft(char32_t code) {
  return (code >= 0x590 && code <= 0x8FF) || (code >= 0xFB1D && code <= 0xFDFF) ||
         (code >= 0xFE70 && code <= 0xFEFF);
}

bool IsDigit(char32_t code) {
  return (code >= '0' && code <= '9') || (code >= 0x660 && code <= 0x669) ||
         (code >= 0x6F0 && code <= 0x6F9);
}

bool IsNeutral(char32_t code) { return code < 0x41 && !IsDigit(code); }

}  // namespace

char32_t NextCodePoint(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  char32_t code = length == 1 ? first : first & (0x7FU >> length);
  bool good = first < 0x80 || (first >= 0xC2 && first <= 0xF4);
  for (size_t i = 1; good && i < length; ++i) {
    good = i < text.size() && (byte(i) & 0xC0) == 0x80;
    if (good) code = code << 6 | (byte(i) & 0x3F);
  }
  good = good && code >= kSmallest[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  if (!good) length = 1;
  text.remove_prefix(length);
  return good ? code : kReplacement;
}

std::u32string VisualOrder(std::string_view text) {
  std::u32string codes;
  bool turned = false;
  while (!text.empty()) {
    codes += NextCodePoint(text);
    turned = turned || IsRightToLeft(codes.back());
  }
  if (!turned) return codes;
  std::u32string order = Joined(codes);
  // A run goes from one right-to-left letter to the last that only spaces,
  // signs and digits part from it; numbers in it keep their order.
  for (size_t begin = 0; begin < order.size(); ++begin) {
    if (!IsRightToLeft(order[begin]) || IsDigit(order[begin])) continue;
    size_t end = begin + 1;
    for (size_t i = end; i < order.size(); ++i) {
      if (IsRightToLeft(order[i])) {
        end = i + 1;
      } else if (!IsNeutral(order[i]) && !IsDigit(order[i])) {
        break;
      }
    }
    std::reverse(order.begin() + static_cast<std::ptrdiff_t>(begin),
                 order.begin() + static_cast<std::ptrdiff_t>(end));
    for (size_t i = begin; i < end; ++i) {
      size_t stop = i;
      while (stop < end && IsDigit(order[stop])) ++stop;
      std::reverse(order.begin() + static_cast<std::ptrdiff_t>(i),
                   order.begin() + static_cast<std::ptrdiff_t>(stop));
      i = std::max(i, stop);
    }
    begin = end - 1;
  }
  return order;
}

std::string Utf8(const std::u32string& codes) {
  std::string text;
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  for (char32_t code : codes) {
    if (code < 0x80) {
      add(code);
      continue;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr char32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
    add(kFirst[more] | code >> (6 * more));
    for (int i = more - 1; i >= 0; --i) add(0x80 | (code >> (6 * i) & 0x3F));
  }
  return text;
}

}  // namespace attnmap
