#include <zlib.h>

#include <map>

#include "render/drawing.h"
#include "render/font.h"
#include "render/pdf_font.h"

namespace attnmap {
namespace {

constexpr double kPointsPerPixel = 0.75;  // 96 pixels an inch

std::string Deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                9) != Z_OK) {
    throw std::bad_alloc();
  }
  out.resize(size);
  return out;
}

std::string_view View(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file of numbered objects (PDF 32000-1:2008, 7.5).
class PdfFile {
 public:
  int Reserve() {
    offsets_.push_back(0);
    return static_cast<int>(offsets_.size());
  }
  void Write(int number, const std::string& body) {
    offsets_[static_cast<size_t>(number - 1)] = bytes_.size();
    bytes_ += std::to_string(number) + " 0 obj\n" + body + "\nendobj\n";
  }
  int Add(const std::string& body) {
    const int number = Reserve();
    Write(number, body);
    return number;
  }
  // `entries`: of the dictionary besides the length.
  int AddStream(const std::string& entries, std::string_view data) {
    return Add("<< " + entries + " /Length " + std::to_string(data.size()) + " >>\nstream\n" +
               std::string(data) + "\nendstream");
  }
  int AddDeflated(const std::string& entries, std::string_view data) {
    return AddStream(entries + " /Filter /FlateDecode", Deflated(data));
  }
  std::string Finish(int catalog) {
    const size_t table = bytes_.size();
    const std::string count = std::to_string(offsets_.size() + 1);
    bytes_ += "xref\n0 " + count + "\n0000000000 65535 f \n";
    for (size_t offset : offsets_) {
      const std::string digits = std::to_string(offset);
      bytes_ += std::string(10 - digits.size(), '0') + digits + " 00000 n \n";
    }
    bytes_ += "trailer\n<< /Size " + count + " /Root " + Reference(catalog) + " >>\nstartxref\n" +
              std::to_string(table) + "\n%%EOF\n";
    return std::move(bytes_);
  }
  static std::string Reference(int number) { return std::to_string(number) + " 0 R"; }

 private:
  std::string bytes_ = "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n";
  std::vector<size_t> offsets_;
};

std::string Fill(const Colour& colour) {
  std::string text;
  for (uint8_t level : colour) text += ShortNumber(level / 255.0) + " ";
  return text + "rg\n";
}

class PdfPage {
 public:
  explicit PdfPage(const Drawing& drawing) : drawing_(drawing) {
    // From here on in pixels, upwards from the bottom.
    content_ = ShortNumber(kPointsPerPixel) + " 0 0 " + ShortNumber(kPointsPerPixel) + " 0 0 cm\n";
  }

  void AddPhotos() {
    for (const Drawing::Photo& photo : drawing_.photos) {
      const int number = file_.AddStream(
          "/Type /XObject /Subtype /Image /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter "
          "/DCTDecode /Width " +
              std::to_string(photo.size.cols) + " /Height " + std::to_string(photo.size.rows),
          View(photo.jpeg));
      images_ += "/P" + std::to_string(count_images_++) + " " + PdfFile::Reference(number) + " ";
    }
    for (const Drawing::PlacedPhoto& placed : drawing_.placed) {
      const Box& box = placed.box;
      content_ += "q " + std::to_string(box.cols) + " 0 0 " + std::to_string(box.rows) + " " +
                  std::to_string(box.left) + " " + FromBottom(box.bottom()) + " cm /P" +
                  std::to_string(placed.photo) + " Do Q\n";
    }
  }

  // Opacity and colour are said where they change.
  void AddShapes() {
    double opacity = -1;
    for (const Drawing::Shape& shape : drawing_.shapes) {
      if (shape.opacity != opacity) content_ += State(shape.opacity);
      opacity = shape.opacity;
      content_ += Fill(shape.colour) + ShortNumber(shape.rect.left) + " " +
                  FromBottom(shape.rect.bottom) + " " + ShortNumber(shape.rect.cols()) + " " +
                  ShortNumber(shape.rect.rows()) + " re\nf\n";
    }
    if (opacity != 1) content_ += State(1);
  }

  void AddTexts(Font& font) {
    FontNumber(font.file());
    content_ += "BT\n";
    for (const PlacedText& text : drawing_.texts) {
      content_ += Fill(text.quiet ? kQuietInk : kInk);
      font.SetSize(text.pixels);
      const std::vector<Font::Run> runs = font.Runs(text.text);
      const int width = font.Width(text.text);
      for (size_t i = 0; i < runs.size(); ++i) {
        const Font::Run& run = runs[i];
        const size_t number = FontNumber(run.file);
        // Letters on whole pixels, as places were measured with, can be narrower.
        const int room = (i + 1 < runs.size() ? runs[i + 1].left : width) - run.left;
        const double wide = fonts_[number].Width(run.text) * text.pixels;
        content_ += "/F" + std::to_string(number) + " " + std::to_string(text.pixels) + " Tf " +
                    ShortNumber(wide > room ? 100 * room / wide : 100) + " Tz 1 0 0 1 " +
                    std::to_string(text.left + run.left) + " " + FromBottom(text.baseline) +
                    " Tm " + fonts_[number].Encode(run.text) + " Tj\n";
      }
    }
    content_ += "ET\n";
  }

  std::string Bytes() {
    std::string fonts;
    for (size_t i = 0; i < fonts_.size(); ++i) {
      fonts += "/F" + std::to_string(i) + " " + PdfFile::Reference(AddFont(fonts_[i])) + " ";
    }
    std::string states;
    for (const auto& [opacity, number] : states_) {
      states += "/G" + std::to_string(number) + " << /ca " + ShortNumber(opacity) + " >> ";
    }
    const int content = file_.AddDeflated("", content_);
    const int pages = file_.Reserve();
    const int page =
        file_.Add("<< /Type /Page /Parent " + PdfFile::Reference(pages) + " /MediaBox [0 0 " +
                  ShortNumber(drawing_.canvas.cols * kPointsPerPixel) + " " +
                  ShortNumber(drawing_.canvas.rows * kPointsPerPixel) + "] /Contents " +
                  PdfFile::Reference(content) + " /Resources << /XObject << " + images_ +
                  ">> /ExtGState << " + states + ">> /Font << " + fonts + ">> >> >>");
    file_.Write(pages, "<< /Type /Pages /Count 1 /Kids [" + PdfFile::Reference(page) + "] >>");
    return file_.Finish(file_.Add("<< /Type /Catalog /Pages " + PdfFile::Reference(pages) + " >>"));
  }

 private:
  std::string FromBottom(double row) const { return ShortNumber(drawing_.canvas.rows - row); }

  std::string State(double opacity) {
    const size_t number = states_.try_emplace(opacity, states_.size()).first->second;
    return "/G" + std::to_string(number) + " gs\n";
  }

  size_t FontNumber(const std::string& file) {
    const auto [entry, is_new] = font_numbers_.try_emplace(file, fonts_.size());
    if (is_new) fonts_.emplace_back(file);
    return entry->second;
  }

  int AddFont(const PdfFont& font) {
    const std::vector<uint8_t> sfnt = font.FontFile();
    const int file = file_.AddDeflated("/Length1 " + std::to_string(sfnt.size()), View(sfnt));
    const int descriptor =
        file_.Add("<< /Type /FontDescriptor /FontName /" + font.name() + " " + font.Descriptor() +
                  " /FontFile2 " + PdfFile::Reference(file) + " >>");
    const int descendant =
        file_.Add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /" + font.name() +
                  " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
                  "/CIDToGIDMap /Identity /FontDescriptor " +
                  PdfFile::Reference(descriptor) + " /W [ " + font.Widths() + "] >>");
    const int unicode = file_.AddDeflated("", font.ToUnicode());
    return file_.Add("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /BaseFont /" +
                     font.name() + " /DescendantFonts [" + PdfFile::Reference(descendant) +
                     "] /ToUnicode " + PdfFile::Reference(unicode) + " >>");
  }

  const Drawing& drawing_;
  PdfFile file_;
  std::string content_;
  std::string images_;
  int count_images_ = 0;
  std::map<double, size_t> states_;  // by opacity
  std::vector<PdfFont> fonts_;
  std::map<std::string, size_t> font_numbers_;  // by file
};

}  // namespace

std::string PdfBytes(const Drawing& drawing, Font* font) {
  PdfPage page(drawing);
  page.AddPhotos();
  page.AddShapes();
  if (font != nullptr) page.AddTexts(*font);
  return page.Bytes();
}

}  // namespace attnmap
