#include <cstdio>

#include "render/base64.h"
#include "render/drawing.h"
#include "render/text_order.h"

namespace attnmap {
namespace {

// Char of XML 1.0, 2.2; of code points, so never half a surrogate pair.
bool IsXml(char32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xFFFE && code != 0xFFFF;
}

// What XML takes: bytes that are no UTF-8 and what it forbids become U+FFFD.
std::string Escaped(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const char32_t code = NextCodePoint(text);
    if (code == '&') {
      escaped += "&amp;";
    } else if (code == '<') {
      escaped += "&lt;";
    } else if (code == '>') {
      escaped += "&gt;";
    } else if (code == '"') {
      escaped += "&quot;";
    } else {
      escaped += Utf8({IsXml(code) ? code : kReplacement});
    }
  }
  return escaped;
}

std::string Hex(const Colour& colour) {
  char text[8];
  std::snprintf(text, sizeof(text), "#%02x%02x%02x", colour[0], colour[1], colour[2]);
  return text;
}

std::string Attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + ShortNumber(value) + "\"";
}

void AddPhotos(const Drawing& drawing, std::string& svg) {
  svg += "<defs>\n";
  for (size_t i = 0; i < drawing.photos.size(); ++i) {
    const Drawing::Photo& photo = drawing.photos[i];
    svg += "<image id=\"photo" + std::to_string(i) + "\"" + Attribute("width", photo.size.cols) +
           Attribute("height", photo.size.rows) +
           " preserveAspectRatio=\"none\" xlink:href=\"data:image/jpeg;base64," +
           Base64(photo.jpeg) + "\"/>\n";
  }
  svg += "</defs>\n";
  for (const Drawing::PlacedPhoto& placed : drawing.placed) {
    const RowsCols size = drawing.photos[placed.photo].size;
    svg += "<use xlink:href=\"#photo" + std::to_string(placed.photo) + "\" transform=\"translate(" +
           std::to_string(placed.box.left) + " " + std::to_string(placed.box.top) + ") scale(" +
           std::to_string(static_cast<double>(placed.box.cols) / size.cols) + " " +
           std::to_string(static_cast<double>(placed.box.rows) / size.rows) + ")\"/>\n";
  }
}

}  // namespace

std::string SvgText(const Drawing& drawing) {
  const std::string cols = std::to_string(drawing.canvas.cols);
  const std::string rows = std::to_string(drawing.canvas.rows);
  std::string svg =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "width=\"" +
      cols + "\" height=\"" + rows + "\" viewBox=\"0 0 " + cols + " " + rows +
      "\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  AddPhotos(drawing, svg);
  // Neighbours share their edges: antialiasing would draw a seam between them.
  svg += "<g shape-rendering=\"crispEdges\">\n";
  for (const Drawing::Shape& shape : drawing.shapes) {
    svg += "<rect" + Attribute("x", shape.rect.left) + Attribute("y", shape.rect.top) +
           Attribute("width", shape.rect.cols()) + Attribute("height", shape.rect.rows()) +
           " fill=\"" + Hex(shape.colour) + "\"";
    if (shape.opacity < 1) svg += Attribute("fill-opacity", shape.opacity);
    svg += "/>\n";
  }
  svg += "</g>\n<g font-family=\"DejaVu Sans, Verdana, sans-serif\">\n";
  for (const PlacedText& text : drawing.texts) {
    svg += "<text" + Attribute("x", text.left) + Attribute("y", text.baseline) +
           Attribute("font-size", text.pixels) + " fill=\"" + Hex(text.quiet ? kQuietInk : kInk) +
           "\">" + Escaped(text.text) + "</text>\n";
  }
  return svg + "</g>\n</svg>\n";
}

}  // namespace attnmap
