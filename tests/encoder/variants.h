#ifndef ATTNMAP_TESTS_ENCODER_VARIANTS_H_
#define ATTNMAP_TESTS_ENCODER_VARIANTS_H_

#include <string>
#include <vector>

#include "attnmap/model/vit_model.h"
#include "support/random_model.h"

namespace attnmap::test {

// A model of one kind and the grid it is run on.
struct Variant {
  std::string name;
  VitConfig config;
  RandomParts parts;
  PatchGrid grid;
};

// One for each kind of part a configuration can call for.
std::vector<Variant> AllVariants();

// The plain one: class token, positions, residual, layer norm, MLP; three layers.
Variant PlainVariant();
Variant WideVariant();

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_ENCODER_VARIANTS_H_
