// Einsum, from the left: each operand's repeated labels are taken from the diagonal, labels that
// nothing else has are summed, then two operands become one. Of floats by MatMul where labels are
// summed over, else by Mul (and ReduceSum). ONNX Runtime takes the operands in the same order.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// Letters by their code; axes of "..." as -1 (the last), -2 ...
using Labels = std::vector<int>;

bool has(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

struct Operand {
  ValueId id = kNoValue;
  Labels labels;
};

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// One term; "..." stands for `ellipsis` axes. Nothing where it is malformed.
std::optional<Labels> labels_of(std::string_view term, std::size_t ellipsis) {
  Labels out;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      out.push_back(term[i]);
    } else if (term.substr(i, 3) == "...") {
      for (std::size_t d = ellipsis; d > 0; --d) out.push_back(-static_cast<int>(d));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::size_t letters_in(std::string_view term) {
  return static_cast<std::size_t>(std::ranges::count_if(term, is_letter));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == at) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// The labels that the result has where the equation does not say: "...", then in alphabetical
// order those that occur once.
Labels implicit_result(const std::vector<Labels>& operands) {
  std::map<int, int> uses;
  for (const Labels& labels : operands) {
    for (const int label : labels) ++uses[label];
  }
  Labels out;
  for (const auto& [label, count] : uses) {
    if (label < 0 || count == 1) out.push_back(label);
  }
  return out;
}

std::optional<Equation> parse(const Parts& parts, std::string text) {
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> terms = split(text.substr(0, arrow), ',');
  if (terms.size() != parts.inputs()) return std::nullopt;
  Equation out;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t rank = parts.shape(i).size(), letters = letters_in(terms[i]);
    const bool open = terms[i].find("...") != std::string::npos;
    if (open ? letters > rank : letters != rank) return std::nullopt;
    const auto labels = labels_of(terms[i], rank - letters);
    if (!labels || labels->size() != rank) return std::nullopt;
    widest = std::max(widest, rank - letters);
    out.operands.push_back(*labels);
  }
  if (arrow == std::string::npos) {
    out.result = implicit_result(out.operands);
    return out;
  }
  const auto result = labels_of(text.substr(arrow + 2), widest);
  if (!result) return std::nullopt;
  out.result = *result;
  Labels sorted = *result;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return std::nullopt;
  for (const int label : out.result) {
    if (std::ranges::none_of(out.operands, [&](const Labels& each) { return has(each, label); }))
      return std::nullopt;
  }
  return out;
}

constexpr std::int64_t kMostProducts = std::int64_t{1} << 40;

class Contraction {
 public:
  Contraction(Parts& parts, Equation equation)
      : parts_(parts), equation_(std::move(equation)), type_(parts.dtype(0)) {}

  void write() {
    if (!read_sizes()) return;
    Operand so_far = operand(0);
    for (std::size_t i = 1; i < equation_.operands.size(); ++i)
      so_far = product(sum_out(so_far, i), sum_out(operand(i), i, &so_far.labels), i + 1);
    if (parts_.failed()) return;
    so_far = sum_out(so_far, equation_.operands.size());
    parts_.give(0, ordered(so_far, equation_.result));
  }

 private:
  bool read_sizes() {
    for (std::size_t i = 0; i < equation_.operands.size(); ++i) {
      for (std::size_t d = 0; d < equation_.operands[i].size(); ++d) {
        const std::int64_t size = parts_.shape(i)[d];
        std::int64_t& known = sizes_.try_emplace(equation_.operands[i][d], size).first->second;
        if (known == 1) known = size;
        if (size == 1 || size == known) continue;
        parts_.fail(DiagKind::kShape, cat("input ", i, " of shape ", to_string(parts_.shape(i)),
                                          " does not fit the equation"));
        return false;
      }
    }
    return true;
  }

  // Whether the result or an operand from `next` on has the label.
  bool is_needed(int label, std::size_t next) const {
    if (has(equation_.result, label)) return true;
    for (std::size_t i = next; i < equation_.operands.size(); ++i) {
      if (has(equation_.operands[i], label)) return true;
    }
    return false;
  }

  Shape shape_of(const Labels& labels) const {
    Shape out;
    for (const int label : labels) out.push_back(sizes_.at(label));
    return out;
  }

  // Input i in its full size, each label once.
  Operand operand(std::size_t i) {
    const Labels& given = equation_.operands[i];
    Operand out{parts_.input(i), given};
    if (!has_at_most(shape_of(given), kMostProducts)) {
      parts_.fail(DiagKind::kLimit, "an operand has more than 2^40 elements");
      return out;
    }
    if (parts_.shape(i) != shape_of(given))
      out.id = parts_.add("Expand", {out.id, parts_.ints(shape_of(given))});
    Labels once;
    for (const int label : given) {
      if (!has(once, label)) once.push_back(label);
    }
    if (once.size() == given.size()) return out;
    Ints places{0};
    for (const int label : once) {
      std::int64_t stride = 0, step = 1;
      for (std::size_t d = given.size(); d-- > 0; step *= sizes_.at(given[d]))
        stride += given[d] == label ? step : 0;
      Ints more;
      for (const std::int64_t place : places) {
        for (std::int64_t k = 0; k < sizes_.at(label); ++k) more.push_back(place + k * stride);
      }
      places = std::move(more);
    }
    const ValueId flat = parts_.reshape(out.id, {element_count(shape_of(given))});
    return {parts_.add("Gather", {flat, parts_.ints(shape_of(once), places)}), once};
  }

  // Sums over the labels that nothing from operand `next` on needs, and `other` does not have.
  Operand sum_out(const Operand& x, std::size_t next, const Labels* other = nullptr) {
    Ints axes;
    Operand out{x.id, {}};
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      const int label = x.labels[d];
      const bool stays = is_needed(label, next + (other == nullptr ? 0 : 1)) ||
                         (other != nullptr && has(*other, label));
      if (stays) {
        out.labels.push_back(label);
      } else {
        axes.push_back(static_cast<std::int64_t>(d));
      }
    }
    out.id = parts_.reduce("ReduceSum", x.id, axes, false);
    return out;
  }

  ValueId ordered(const Operand& x, const Labels& order) {
    Ints perm;
    for (const int label : order)
      perm.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
    return parts_.transpose(x.id, perm);
  }

  // Of a and b, where what comes from operand `next` on is still to be multiplied.
  Operand product(const Operand& a, const Operand& b, std::size_t next) {
    Labels batch, rows, summed, columns;
    for (const int label : a.labels) {
      if (!has(b.labels, label)) {
        rows.push_back(label);
      } else if (is_needed(label, next)) {
        batch.push_back(label);
      } else {
        summed.push_back(label);
      }
    }
    for (const int label : b.labels) {
      if (!has(a.labels, label)) columns.push_back(label);
    }
    const auto joined = [](Labels first, const Labels& second, const Labels& third) {
      first.insert(first.end(), second.begin(), second.end());
      first.insert(first.end(), third.begin(), third.end());
      return first;
    };
    Shape sizes = shape_of(joined(batch, rows, columns));
    sizes.push_back(count(summed));
    if (!has_at_most(sizes, kMostProducts)) {
      parts_.fail(DiagKind::kLimit, "a product of two operands has more than 2^40 terms");
      return {a.id, a.labels};
    }
    const Operand left{ordered(a, joined(batch, rows, summed)), {}};
    const std::int64_t n = count(batch), m = count(rows), k = count(summed), p = count(columns);
    const Labels result = joined(batch, rows, columns);
    ValueId y = kNoValue;
    if (type_ == DType::kF32 && !summed.empty()) {
      const ValueId right = ordered(b, joined(batch, summed, columns));
      y = parts_.add("MatMul",
                     {parts_.reshape(left.id, {n, m, k}), parts_.reshape(right, {n, k, p})});
    } else {
      const ValueId right = ordered(b, joined(batch, columns, summed));
      y = parts_.add("Mul",
                     {parts_.reshape(left.id, {n, m, 1, k}), parts_.reshape(right, {n, 1, p, k})});
      if (!summed.empty()) y = parts_.reduce("ReduceSum", y, {3}, false);
    }
    return {parts_.reshape(y, shape_of(result)), result};
  }

  std::int64_t count(const Labels& labels) const { return element_count(shape_of(labels)); }

  Parts& parts_;
  const Equation equation_;
  const DType type_;
  std::map<int, std::int64_t> sizes_;
};

void einsum(Parts& parts) {
  for (std::size_t i = 0; i < parts.inputs(); ++i) {
    if (!parts.needs(i)) return;
    if (!parts.has_type(i, {parts.dtype(0)})) return;
    if (!parts.has_type(i, {DType::kF32, DType::kS32, DType::kS64})) return;
    if (element_count(parts.shape(i)) > 0) continue;
    parts.fail(DiagKind::kUnsupported, cat("input ", i, ": an empty tensor cannot be compiled"));
    return;
  }
  const auto text = parts.take<std::string>("equation", "");
  auto equation = parse(parts, text);
  if (!equation) {
    parts.fail(DiagKind::kAttr,
               cat("equation: '", printable(text), "' does not fit the shapes of the inputs"));
    return;
  }
  Contraction(parts, std::move(*equation)).write();
}

constexpr Rule kEinsumRules[] = {{"Einsum", einsum, 64, 1, 12}};
}  // namespace

std::span<const Rule> product_rules() { return kEinsumRules; }

}  // namespace etch
