#include "attnmap/ops/instruction_set.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include "attnmap/core/error.h"
#include "ops/simd.h"

namespace attnmap::ops {
namespace {

// Best first: Highway gives the better set the lower bit.
std::vector<int64_t> Targets() {
  const int64_t compiled = HWY_TARGETS;
  std::vector<int64_t> targets;
  for (int64_t rest = hwy::SupportedTargets() & compiled; rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

}  // namespace

std::vector<std::string> InstructionSets() {
  std::vector<std::string> names;
  for (int64_t target : Targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void LimitInstructionSet(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  if (name.empty()) return;
  int64_t allowed = 0;
  for (int64_t target : Targets()) {
    if (name == hwy::TargetName(target)) allowed = target;
    if (allowed != 0) allowed |= target;
  }
  if (allowed == 0) throw Error("instruction set " + name + " is not offered by this machine");
  hwy::SetSupportedTargetsForTest(allowed);
}

std::string InstructionSetInUse() { return InstructionSets().front(); }

}  // namespace attnmap::ops
