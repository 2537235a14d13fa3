#ifndef ATTNMAP_PIPELINE_BATCH_INPUTS_H_
#define ATTNMAP_PIPELINE_BATCH_INPUTS_H_

#include <string>
#include <vector>

namespace attnmap {

// One picture of a batch and where its result goes.
struct BatchItem {
  std::string image;
  std::string output;  // full path
  std::string error;   // not empty: cannot be done (an input that is not there)
};

// Folders (recursive, pictures by their usual endings), globs, list files
// (.txt, .lst, .list: a path a line, or NUL between), "-" (such a list on
// standard input), and plain files, in the order given, each once.
// Outputs keep the structure below a folder, a glob's fixed part or the common
// folder of plain files; where two would be one file, both keep their
// extension, and if that is not enough the name of their input folder comes first.
// `suffix`: ".attnmap.png". Results of an earlier run (*.attnmap.*) and
// everything below output_dir are left out of folders.
std::vector<BatchItem> CollectBatch(const std::vector<std::string>& inputs,
                                    const std::string& output_dir, const std::string& suffix);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_BATCH_INPUTS_H_
