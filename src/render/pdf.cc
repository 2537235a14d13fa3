#include <algorithm>
#include <deque>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/image/module.h"
#include "render/drawing.h"
#include "render/pdf_module/pdf_abi.h"

namespace attnmap {
namespace {

constexpr double kPointsPerPixel = 0.75;  // 96 pixels an inch

const AttnmapPdf& LoadPdf(const std::string& path) {
  return LoadModule<AttnmapPdf>(path, ATTNMAP_PDF_SYMBOL, ATTNMAP_PDF_VERSION,
                                "PDF needs the PDF module, which");
}

// A drawing as the module takes it; valid while the drawing lives.
class PdfPage {
 public:
  PdfPage(const Drawing& drawing, Font* font) : drawing_(drawing) {
    for (const Drawing::Photo& photo : drawing.photos) {
      photos_.push_back({photo.jpeg.data(), photo.jpeg.size()});
    }
    for (const Drawing::PlacedPhoto& placed : drawing.placed) {
      const Box& box = placed.box;
      placed_.push_back({placed.photo, static_cast<double>(box.left), static_cast<double>(box.top),
                         static_cast<double>(box.cols), static_cast<double>(box.rows)});
    }
    for (const Drawing::Shape& shape : drawing.shapes) {
      const Rect& rect = shape.rect;
      AttnmapPdfRect row{rect.left, rect.top, rect.right, rect.bottom, shape.opacity, {}};
      std::copy(shape.colour.begin(), shape.colour.end(), row.colour);
      rects_.push_back(row);
    }
    if (font == nullptr) return;
    for (const PlacedText& text : drawing.texts) AddText(text, *font);
  }

  AttnmapPdfPage Table() const {
    return {static_cast<double>(drawing_.canvas.rows),
            static_cast<double>(drawing_.canvas.cols),
            kPointsPerPixel,
            photos_.data(),
            photos_.size(),
            placed_.data(),
            placed_.size(),
            rects_.data(),
            rects_.size(),
            texts_.data(),
            texts_.size()};
  }

 private:
  void AddText(const PlacedText& text, Font& font) {
    font.SetSize(text.pixels);
    const int width = font.Width(text.text);
    const std::vector<Font::Run> runs = font.Runs(text.text);
    const Colour& colour = text.quiet ? kQuietInk : kInk;
    for (size_t i = 0; i < runs.size(); ++i) {
      const Font::Run& run = runs_.emplace_back(runs[i]);
      // Letters on whole pixels, as places were measured with, can be narrower.
      const int end = i + 1 < runs.size() ? runs[i + 1].left : width;
      AttnmapPdfText row{run.file.c_str(),
                         run.text.c_str(),
                         static_cast<double>(text.left + run.left),
                         static_cast<double>(text.baseline),
                         static_cast<double>(text.pixels),
                         static_cast<double>(end - run.left),
                         {}};
      std::copy(colour.begin(), colour.end(), row.colour);
      texts_.push_back(row);
    }
  }

  const Drawing& drawing_;
  std::vector<AttnmapPdfPhoto> photos_;
  std::vector<AttnmapPdfPlaced> placed_;
  std::vector<AttnmapPdfRect> rects_;
  std::vector<AttnmapPdfText> texts_;
  std::deque<Font::Run> runs_;  // what texts_ points at, which stays where it is
};

}  // namespace

void CheckVectorFormat(VectorFormat format, const PictureOptions& options) {
  if (format != VectorFormat::kPdf || !options.pdf_module.empty()) return;
  throw Error(
      "PDF needs the PDF module (attnmap-pdf.so), which is not installed: build attnmap with cairo "
      "(libcairo2-dev), or write SVG");
}

std::string PdfBytes(const Drawing& drawing, Font* font, const std::string& module) {
  const AttnmapPdf& pdf = LoadPdf(module);
  const PdfPage page(drawing, font);
  const AttnmapPdfPage table = page.Table();
  AttnmapPdfBytes bytes = {};
  char message[ATTNMAP_PDF_MESSAGE] = {};
  if (pdf.write(&table, &bytes, message) != 0) {
    throw Error(std::string("the PDF cannot be made: ") + message);
  }
  const auto release = [&](AttnmapPdfBytes* owned) { pdf.release(owned); };
  const std::unique_ptr<AttnmapPdfBytes, decltype(release)> owned(&bytes, release);
  return {bytes.data, bytes.size};
}

}  // namespace attnmap
