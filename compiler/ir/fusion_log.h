// What became of single nodes of the file: fused into another operator, made superfluous, or left
// as they are for a reason that a user who exports models can act on. The passes write it,
// `etch inspect` and the reports show it; nothing else depends on it.
#pragma once

#include <string>
#include <vector>

namespace etch {

struct Graph;
struct Node;

struct FusionRecord {
  enum class Outcome { kFused, kMissed };
  Outcome outcome = Outcome::kFused;
  int node = -1;            // Node::index: position in the file
  std::string op_type;      // of that node when it was looked at; printable
  std::string name;         // of that node; printable, empty when it has none
  std::string what;         // kFused: "became QLinearConv"; kMissed: the reason
  std::string option = {};  // kMissed: what makes integers of it, as typed; empty: nothing does
};

class FusionLog {
 public:
  // `node` became something else, or part of it, or vanished. Reasons noted earlier are void.
  void fused(const Node& node, std::string what);
  // `node` stays as it is, as far as the calling pass knows. Replaces an earlier reason, so that a
  // pass may look at a node as often as it likes.
  void missed(const Node& node, std::string why);

  // What would make integers of a missed one.
  void offer(const Node& node, std::string option);

  // What was said about `node` holds no longer.
  void forget(const Node& node);

  // Drops the reasons of nodes that are not in `graph` any more, and sorts by position in the file.
  // Call it when all passes are done.
  void finish(const Graph& graph);

  const std::vector<FusionRecord>& records() const { return records_; }

 private:
  std::vector<FusionRecord> records_;
};

// "Conv 'conv1'", or "Conv #7" for a node without a name.
std::string title_of(const FusionRecord& record);
// What a missed one says: "not quantized (--qdq all makes it integer)".
std::string reason_of(const FusionRecord& record);

}  // namespace etch
