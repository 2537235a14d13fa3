#include <cstdlib>

#include "image/encoders.h"
#include "image/jpeg_errors.h"

namespace attnmap {
namespace {

// Where the file goes: memory that grows, freed whatever happens.
struct Destination {
  jpeg_destination_mgr base;  // first: libjpeg hands a pointer to it back
  uint8_t* data;
  size_t capacity;
};

void Grow(j_compress_ptr info, Destination& to, size_t used) {
  const size_t capacity = to.capacity == 0 ? size_t{1} << 16 : to.capacity * 2;
  auto* data = static_cast<uint8_t*>(std::realloc(to.data, capacity));
  if (data == nullptr) JpegFail(reinterpret_cast<j_common_ptr>(info), "out of memory");
  to.data = data;
  to.capacity = capacity;
  to.base.next_output_byte = data + used;
  to.base.free_in_buffer = capacity - used;
}

void OnStart(j_compress_ptr info) { Grow(info, *reinterpret_cast<Destination*>(info->dest), 0); }

// Called when the buffer is full, whatever free_in_buffer says.
boolean OnFull(j_compress_ptr info) {
  Destination& to = *reinterpret_cast<Destination*>(info->dest);
  Grow(info, to, to.capacity);
  return TRUE;
}

void OnEnd(j_compress_ptr) {}

class JpegWriter {
 public:
  JpegWriter() {
    info_.err = InitJpegErrors(errors_);
    Call([](jpeg_compress_struct& info) { jpeg_create_compress(&info); });
    destination_.base.init_destination = OnStart;
    destination_.base.empty_output_buffer = OnFull;
    destination_.base.term_destination = OnEnd;
    info_.dest = &destination_.base;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(destination_.data);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  template <typename Step>
  void Call(Step step) {
    CallJpeg(info_, errors_, "the JPEG picture cannot be written: ", step);
  }
  std::vector<uint8_t> File() const {
    return {destination_.data,
            destination_.data + (destination_.capacity - destination_.base.free_in_buffer)};
  }

 private:
  jpeg_compress_struct info_ = {};
  JpegErrors errors_ = {};
  Destination destination_ = {};
};

}  // namespace

std::vector<uint8_t> EncodeJpeg(const Image& image, int quality) {
  CheckSides(image, "JPEG", JPEG_MAX_DIMENSION);
  JpegWriter writer;
  const auto rows = static_cast<JDIMENSION>(image.rows);
  const auto cols = static_cast<JDIMENSION>(image.cols);
  writer.Call([rows, cols, quality](jpeg_compress_struct& info) {
    info.image_height = rows;
    info.image_width = cols;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    // A map's values are its hues: colour is kept at full resolution (4:4:4).
    info.comp_info[0].h_samp_factor = 1;
    info.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&info, TRUE);
  });
  for (int y = 0; y < image.rows; ++y) {
    const uint8_t* row = image.row(y);
    writer.Call([row](jpeg_compress_struct& info) {
      JSAMPROW rows_of_one[] = {const_cast<JSAMPROW>(row)};  // only read
      jpeg_write_scanlines(&info, rows_of_one, 1);
    });
  }
  writer.Call([](jpeg_compress_struct& info) { jpeg_finish_compress(&info); });
  return writer.File();
}

}  // namespace attnmap
