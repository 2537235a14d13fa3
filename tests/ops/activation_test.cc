#include "attnmap/ops/activation.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "ops/support.h"

namespace attnmap::ops {
namespace {

using test::ForEachInstructionSet;

double Exact(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh: {
      const double z = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(z));
    }
    case Activation::kQuickGelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

const Activation kAll[] = {Activation::kNone, Activation::kGelu, Activation::kGeluTanh,
                           Activation::kQuickGelu, Activation::kSilu};

TEST_CASE("activations have the values of the table") {
  const double x[] = {-3, -1.5, -1, -0.5, 0.5, 1, 2, 3};
  struct Row {
    Activation activation;
    double values[8];
  };
  const Row rows[] = {
      {Activation::kGelu,
       {-0.00404969, -0.10021080, -0.15865525, -0.15426877, 0.34573123, 0.84134475, 1.95449974,
        2.99595031}},
      {Activation::kGeluTanh,
       {-0.00363739, -0.10042842, -0.15880801, -0.15428599, 0.34571401, 0.84119199, 1.95459769,
        2.99636261}},
      {Activation::kQuickGelu,
       {-0.01807131, -0.10833780, -0.15420423, -0.14961156, 0.35038844, 0.84579577, 1.93565862,
        2.98192869}},
      {Activation::kSilu,
       {-0.14227762, -0.27363829, -0.26894142, -0.18877033, 0.31122967, 0.73105858, 1.76159416,
        2.85772238}},
  };
  ForEachInstructionSet([&] {
    for (const Row& row : rows) {
      std::vector<float> values(std::begin(x), std::end(x));
      Activate(row.activation, values);
      for (size_t i = 0; i < values.size(); ++i) {
        CHECK(values[i] == Approx(row.values[i]).margin(3e-7));
      }
    }
  });
}

TEST_CASE("activations are accurate to float32 from -40 to 40, and keep the far ends") {
  std::vector<float> x;
  for (int i = -80000; i <= 80000; ++i) x.push_back(static_cast<float>(i) * 0.0005F);
  for (float far : {-1e30F, -1000.0F, -100.0F, 100.0F, 1000.0F, 1e30F, 0.0F, -0.0F, 1e-30F}) {
    x.push_back(far);
  }
  ForEachInstructionSet([&] {
    for (Activation activation : kAll) {
      std::vector<float> values = x;
      Activate(activation, values);
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double size = std::max(1.0, std::abs(static_cast<double>(x[i])));
        worst = std::max(worst, std::abs(values[i] - Exact(activation, x[i])) / size);
      }
      INFO("activation " << static_cast<int>(activation));
      CHECK(worst < 2e-7);
    }
  });
}

}  // namespace
}  // namespace attnmap::ops
