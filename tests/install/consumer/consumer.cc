// A program that uses the installed library: encodes a photo with the demo model and looks at the
// class token's attention in the last layer.
#include <cmath>
#include <iostream>
#include <string>

#include "attnmap/core/capture.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/formats/file.h"
#include "attnmap/image/decode.h"
#include "attnmap/image/prepare.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/weights/weight_source.h"

int main() {
  const std::string data = DATA_DIR;
  const auto source = attnmap::OpenWeights(data + "/models/demo-vit.json");
  const attnmap::PreparedModel model(attnmap::LoadVitModel(*source));
  const attnmap::VitConfig& config = model.model().config;

  const auto decoded = attnmap::DecodeImage(attnmap::ReadFile(data + "/images/astronaut.png"), {});
  const attnmap::InputSpec spec{model.model().preprocess, config.patch_size,
                                model.model().InputSize()};
  const auto input = attnmap::PrepareImage(decoded.image, spec, {});

  attnmap::CaptureRequest request;
  const int last = config.num_layers - 1;
  request.layers = {last};
  request.wants.fused = attnmap::QueryRows::Only({config.tokens.class_token()});
  attnmap::AttentionRecord record(request);
  attnmap::ThreadPool pool(2);
  model.Encode(input, record, pool);

  const attnmap::Tensor& row = record.fused(last);
  double sum = 0;
  for (const float weight : row.values) sum += weight;
  const bool is_one = std::abs(sum - 1) < 1e-4;
  std::cout << "row of " << row.values.size() << " sums to " << (is_one ? 1.0 : sum) << "\n";
  return is_one ? 0 : 1;
}
