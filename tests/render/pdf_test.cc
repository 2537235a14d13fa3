#include <zlib.h>

#include <filesystem>
#include <sstream>

#include "attnmap/core/error.h"
#include "attnmap/image/encode.h"
#include "attnmap/image/module.h"
#include "render/drawing.h"
#include "render/drawing_support.h"
#include "render/pdf_module/pdf_abi.h"
#include "support/temporary.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using test::Filled;
using test::Filled2d;
using test::FitCase;
using test::Labelled;
using test::LabelOptions;
using test::RequestOf;

// Without the PDF module there is nothing to test but that it is missed.
bool HasModule() {
  if (std::filesystem::exists(test::kPdfModule)) return true;
#ifdef ATTNMAP_WITH_PDF
  FAIL("the PDF module was not built");
#endif
  WARN("skipped: the PDF module is missing");
  return false;
}

std::string Pdf(const PictureRequest& request, const PictureOptions& options) {
  return RenderVector(request, options, VectorFormat::kPdf).bytes;
}

// A PDF, and behind it what its deflated streams hold.
std::string Inflated(const std::string& pdf) {
  std::string all = pdf;
  for (size_t at = 0; (at = pdf.find("\nstream\n", at)) != std::string::npos;) {
    at += 8;
    const size_t end = pdf.find("endstream", at);
    std::string out(1 << 22, '\0');
    uLongf size = out.size();
    if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                   reinterpret_cast<const Bytef*>(pdf.data() + at), end - at) == Z_OK) {
      all += out.substr(0, size);
    }
    at = end;
  }
  return all;
}

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

// Reads a page's content as a viewer does, and keeps the rectangles that are
// filled, in pixels.
class Viewer {
 public:
  Viewer(std::string pdf, double page_rows) : pdf_(std::move(pdf)), page_rows_(page_rows) {
    std::istringstream content(pdf_.substr(pdf_.find("\n1 0 0 -1 0 ")));
    for (std::string word; content >> word && word != "endstream";) Take(word);
  }
  const std::vector<Filled2d>& rects() const { return rects_; }
  // Where photos lie: corners of the unit square.
  const std::vector<Filled2d>& photos() const { return photos_; }

 private:
  struct State {
    double scale_x = 1, scale_y = 1, x = 0, y = 0;
    Colour colour = {};
    double opacity = 1;
  };

  double Operand(size_t from_end) const { return std::stod(words_[words_.size() - from_end]); }

  // The box with these corners on the page, in pixels from its top left.
  Filled2d At(double x0, double y0, double x1, double y1) const {
    const auto col = [&](double x) { return (state_.scale_x * x + state_.x) / 0.75; };
    const auto row = [&](double y) { return page_rows_ - (state_.scale_y * y + state_.y) / 0.75; };
    return {std::min(col(x0), col(x1)),
            std::min(row(y0), row(y1)),
            std::max(col(x0), col(x1)),
            std::max(row(y0), row(y1)),
            state_.colour,
            state_.opacity};
  }

  // From the dictionary of graphics states: /a0 << /CA 0.6 /ca 0.6 >>.
  double OpacityOf(const std::string& name) const {
    const size_t at = pdf_.find(name + " << ");
    REQUIRE(at != std::string::npos);
    return std::stod(pdf_.substr(pdf_.find("/ca ", at) + 4));
  }

  void Take(const std::string& word) {
    if (word == "q") saved_.push_back(state_);
    if (word == "Q") state_ = saved_.back(), saved_.pop_back();
    if (word == "cm") {
      REQUIRE((Operand(5) == 0 && Operand(4) == 0));
      state_.x += state_.scale_x * Operand(2);
      state_.y += state_.scale_y * Operand(1);
      state_.scale_x *= Operand(6);
      state_.scale_y *= Operand(3);
    }
    if (word == "rg") {
      for (size_t c = 0; c < 3; ++c) {
        state_.colour[c] = static_cast<uint8_t>(std::lround(255 * Operand(3 - c)));
      }
    }
    if (word == "gs") state_.opacity = OpacityOf(words_.back());
    if (word == "re") {
      path_ = At(Operand(4), Operand(3), Operand(4) + Operand(2), Operand(3) + Operand(1));
    }
    if (word == "f") rects_.push_back(path_);
    if (word == "Do") photos_.push_back(At(0, 0, 1, 1));
    words_.push_back(word);
  }

  std::string pdf_;
  double page_rows_;
  std::vector<std::string> words_ = std::vector<std::string>(6);
  State state_;
  std::vector<State> saved_;
  Filled2d path_{};
  std::vector<Filled2d> rects_;
  std::vector<Filled2d> photos_;
};

double Apart(const Filled2d& a, const Filled2d& b) {
  return std::max({std::abs(a.left - b.left), std::abs(a.top - b.top), std::abs(a.right - b.right),
                   std::abs(a.bottom - b.bottom)});
}

TEST_CASE("U-25 the PDF's rectangles are the SVG's, in every fit") {
  if (!HasModule()) return;
  for (const FitCase& fit : test::FitCases()) {
    INFO(fit.name);
    const Image photo = Filled(fit.geometry.source, {200, 100, 50});
    const PictureRequest request = RequestOf(fit, photo);
    PictureOptions options = LabelOptions({});
    options.layout = Layout::kOverlay;
    options.colorbar = true;
    options.contour = true;
    options.mass = 0.5;
    const auto rects = test::RectsOf(RenderVector(request, options, VectorFormat::kSvg).bytes);
    const Viewer seen(Inflated(Pdf(request, options)), RenderPicture(request, options).image.rows);
    REQUIRE(seen.rects().size() == rects.size());
    double apart = 0;
    int different = 0;
    for (size_t i = 0; i < rects.size(); ++i) {
      apart = std::max(apart, Apart(seen.rects()[i], rects[i]));
      different += seen.rects()[i].colour != rects[i].colour ? 1 : 0;
      different += std::abs(seen.rects()[i].opacity - rects[i].opacity) > 1e-3 ? 1 : 0;
    }
    CHECK(apart < 0.01);  // cairo's places are multiples of 1/256 point
    CHECK(different == 0);
  }
}

TEST_CASE("U-25 neighbours in a PDF share their edges: no seam, no overlap") {
  if (!HasModule()) return;
  const FitCase fit = test::FitCases()[2];  // patches of no whole number of pixels
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  const PictureRequest request = RequestOf(fit, photo);
  const Viewer seen(Inflated(Pdf(request, LabelOptions({}))), fit.geometry.source.rows);
  const auto& rects = seen.rects();
  const auto cols = static_cast<size_t>(fit.grid.cols);
  const size_t first = rects.size() - static_cast<size_t>(fit.grid.num_patches());
  double gap = 0;
  for (size_t i = first; i + cols < rects.size(); ++i) {
    gap = std::max(gap, std::abs(rects[i].bottom - rects[i + cols].top));
    if ((i - first + 1) % cols != 0) {
      gap = std::max(gap, std::abs(rects[i].right - rects[i + 1].left));
    }
  }
  CHECK(gap < 0.003);
}

TEST_CASE("U-25 a PDF holds the photo's JPEG once, as it is, wherever it is shown") {
  if (!HasModule()) return;
  const FitCase fit = test::FitCases()[0];
  Image photo = Filled(fit.geometry.source, {200, 100, 50});
  for (size_t i = 0; i < photo.rgb.size(); i += 7) photo.rgb[i] = static_cast<uint8_t>(i * 31);
  const PictureRequest request = Labelled(fit, photo, "a");
  const std::string pdf = Pdf(request, LabelOptions({}));
  const std::vector<uint8_t> jpeg = EncodeImage(photo, PictureFormat::kJpeg);
  CHECK(Count(pdf, std::string(jpeg.begin(), jpeg.end())) == 1);
  CHECK(Count(pdf, "/DCTDecode") == 1);
  CHECK(Count(pdf, "/Width 451") == 1);
  CHECK(Count(pdf, "/Height 300") == 1);

  const RenderedPicture pixels = RenderPicture(request, LabelOptions({}));
  const Viewer seen(Inflated(pdf), pixels.image.rows);
  REQUIRE(seen.photos().size() == 2);
  for (const Filled2d& placed : seen.photos()) {
    CHECK(std::abs((placed.right - placed.left) * 300 - (placed.bottom - placed.top) * 451) < 300);
    CHECK(placed.left >= 0);
    CHECK(placed.right <= pixels.image.cols);
  }
  CHECK(pdf == Pdf(request, LabelOptions({})));  // the same again, with no date in it
  CHECK(Inflated(pdf).find("CreationDate") == std::string::npos);
}

TEST_CASE("U-25 a PDF's text is text, in fonts with outlines of either kind") {
  if (!HasModule()) return;
  const FitCase fit = test::FitCases()[0];
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  for (const std::string& font : {test::kCatCff, test::kCatTrueType}) {
    INFO(font);
    const PictureRequest request = Labelled(fit, photo, "so (l\\x) 猫");
    const VectorPicture picture = RenderVector(request, LabelOptions({font}), VectorFormat::kPdf);
    CHECK(picture.notes.empty());
    const std::string all = Inflated(picture.bytes);
    CHECK(all.find("(so \\(l\\\\x\\) )Tj") != std::string::npos);
    // The cat, first of its subset, and what it means.
    CHECK(Count(all, "<0001>Tj") + Count(all, "<0001>]TJ") == 1);
    CHECK(all.find("<0001> <732b>") != std::string::npos);
    CHECK(all.find("+DejaVuSans") != std::string::npos);
    CHECK(all.find("+Test") != std::string::npos);
    CHECK(Count(all, font == test::kCatCff ? "/FontFile3" : "/FontFile2") >= 1);
  }
  const VectorPicture boxes =
      RenderVector(Labelled(fit, photo, "猫"), LabelOptions({}), VectorFormat::kPdf);
  REQUIRE(boxes.notes.size() == 1);
  CHECK(boxes.notes[0].find("no font here has all letters of '猫'") == 0);
}

TEST_CASE("U-25 letters of a PDF are made narrower where they are wider than their room") {
  if (!HasModule()) return;
  const auto& pdf =
      LoadModule<AttnmapPdf>(test::kPdfModule, ATTNMAP_PDF_SYMBOL, ATTNMAP_PDF_VERSION,
                             "this test needs the module, which");
  // Two cats, each an em of 10 pixels wide.
  const auto letters = [&](double room) {
    const AttnmapPdfText text{test::kCatCff.c_str(), "猫猫", 30, 50, 10, room, {}};
    AttnmapPdfPage page{};
    page.rows = page.cols = 100;
    page.points_per_pixel = 0.75;
    page.texts = &text;
    page.num_texts = 1;
    AttnmapPdfBytes bytes = {};
    char message[ATTNMAP_PDF_MESSAGE] = {};
    REQUIRE(pdf.write(&page, &bytes, message) == 0);
    const std::string all = Inflated({bytes.data, bytes.size});
    pdf.release(&bytes);
    CHECK(bytes.owner == nullptr);
    return all.substr(all.find("BT\n") + 3, all.find(" Tm") - all.find("BT\n"));
  };
  CHECK(letters(20) == "7.5 0 0 -7.5 22.5 37.5 Tm");
  CHECK(letters(100) == "7.5 0 0 -7.5 22.5 37.5 Tm");
  CHECK(letters(5) == "1.875 0 0 -7.5 22.5 37.5 Tm");
}

TEST_CASE("U-25 a PDF without its module, or with something else, is an error that says so") {
  const FitCase fit = test::FitCases()[0];
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  const PictureRequest request = RequestOf(fit, photo);
  PictureOptions options;
  CHECK_THROWS_WITH(Pdf(request, options),
                    "PDF needs the PDF module (attnmap-pdf.so), which is not installed: build "
                    "attnmap with cairo (libcairo2-dev), or write SVG");
  options.pdf_module = "/nowhere/attnmap-pdf.so";
  CHECK_THROWS_WITH(Pdf(request, options),
                    Contains("PDF needs the PDF module, which cannot be loaded: ") &&
                        Contains("/nowhere/attnmap-pdf.so"));
  if (!HasModule()) return;
  // A font that goes away between measuring and writing.
  const test::TemporaryFolder folder;
  const std::string file = folder / "font.ttf";
  std::filesystem::copy_file(test::kFont, file);
  Font font(file, 12);
  std::filesystem::remove(file);
  Drawing drawing;
  drawing.canvas = {10, 10};
  drawing.texts.push_back({8, 1, 12, false, "a"});
  CHECK_THROWS_WITH(PdfBytes(drawing, &font, test::kPdfModule),
                    "the PDF cannot be made: the font " + file + " cannot be read");
  CHECK(PdfBytes(drawing, nullptr, test::kPdfModule).starts_with("%PDF-"));
}

}  // namespace
}  // namespace attnmap
