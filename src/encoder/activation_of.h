#ifndef ATTNMAP_ENCODER_ACTIVATION_OF_H_
#define ATTNMAP_ENCODER_ACTIVATION_OF_H_

#include "attnmap/core/error.h"
#include "attnmap/model/vit_config.h"
#include "attnmap/ops/activation.h"

namespace attnmap::encoder {

inline ops::Activation ActivationOf(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return ops::Activation::kGelu;
    case Activation::kGeluTanh:
      return ops::Activation::kGeluTanh;
    case Activation::kQuickGelu:
      return ops::Activation::kQuickGelu;
    case Activation::kSilu:
      return ops::Activation::kSilu;
  }
  throw Error("unknown activation");
}

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_ACTIVATION_OF_H_
