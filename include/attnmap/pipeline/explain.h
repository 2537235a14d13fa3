#ifndef ATTNMAP_PIPELINE_EXPLAIN_H_
#define ATTNMAP_PIPELINE_EXPLAIN_H_

#include <string>
#include <vector>

#include "attnmap/analysis/explain.h"
#include "attnmap/pipeline/run.h"

namespace attnmap {

struct ExplainOptions {
  std::string image;
  ModelOptions model;
  InputOptions input;
  SelectionOptions selection;  // one token as the query
  bool head_given = false;     // else head 0
  int top = 10;                // keys shown
};

// One query in one layer and head.
struct ExplainedHead {
  int layer = 0;
  int head = 0;
  int head_dim = 0;
  std::vector<float> query;  // (head_dim)
  RowExplanation row;
};

struct ExplainResult {
  std::string image;
  std::string model;
  ResolvedQuery query;
  TokenLayout tokens;
  PatchGrid grid;
  std::vector<ExplainedHead> heads;
  std::vector<std::string> notes;
};

// Throws UsageError where the query is not one token.
ExplainResult RunExplain(const ExplainOptions& options);

// "class", "register 1", "patch 3,5".
std::string TokenName(int token, const TokenLayout& tokens, const PatchGrid& grid);

// As a person reads it, and as JSON.
std::string ExplainText(const ExplainResult& result);
std::string ExplainJson(const ExplainResult& result);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_EXPLAIN_H_
