#ifndef ATTNMAP_OPS_INSTRUCTION_SET_H_
#define ATTNMAP_OPS_INSTRUCTION_SET_H_

#include <string>
#include <vector>

namespace attnmap::ops {

// The instruction sets ("AVX2") the kernels were compiled for and this machine
// offers, best first. The first is used unless told otherwise.
std::vector<std::string> InstructionSets();

// Use no better set than this one; empty: the best. For tests and benchmarks,
// not while another thread computes. Throws Error on an unknown name.
void LimitInstructionSet(const std::string& name);

// The one in use.
std::string InstructionSetInUse();

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_INSTRUCTION_SET_H_
