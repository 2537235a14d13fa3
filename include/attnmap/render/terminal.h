#ifndef ATTNMAP_RENDER_TERMINAL_H_
#define ATTNMAP_RENDER_TERMINAL_H_

#include <string>

#include "attnmap/core/image.h"

namespace attnmap {

// What a terminal can show.
enum class TerminalStyle {
  kTrueColour,  // half blocks, 24-bit colours
  k256,         // half blocks, the 256 colours of xterm
  kAscii,       // shades, no colour
  kKitty,       // the kitty graphics protocol
  kSixel,       // DEC sixel graphics, 216 colours, dithered
};

struct TerminalOptions {
  TerminalStyle style = TerminalStyle::kTrueColour;
  int cols = 80;               // letters in a line
  int rows = 0;                // lines a picture may take; 0: any number
  RowsCols letter = {20, 10};  // pixels of one
};

// The pixels a picture of this aspect has in the terminal: the full width, less
// where it is higher than wide or than the terminal. Half blocks are one pixel wide and
// half a letter high; ASCII shades one letter.
RowsCols TerminalPixels(RowsCols picture, const TerminalOptions& options);

// The picture, of TerminalPixels' size for these options, as what is to be printed; ends
// with a newline.
std::string TerminalText(const Image& image, const TerminalOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_TERMINAL_H_
