// Proof text: see the header.
#include "engine/certify/proof_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "engine/certify/document.hpp"
#include "engine/certify/refutation.hpp"
#include "engine/certify/weak.hpp"

namespace cupel::certify {

namespace {

void ids(const std::vector<Number>& order, std::string& text) {
  constexpr std::size_t kOnALine = 50;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kOnALine == 0) text += i == 0 ? "X" : "\nX";
    text += ' ';
    text += std::to_string(order[i]);
  }
  if (!order.empty()) text += '\n';
}

// Whose version each read saw, as far as it can be said without the checks of the order: whom the
// certificate names, else somebody who wrote what was read.
SeenWriters claimed_writers(Subject& subject, const Proof& p) {
  const history::History& h = subject.history();
  std::map<std::pair<Number, Number>, Number> named;
  for (const ReadFrom& r : p.reads_from) named[{r.operation, r.key}] = r.writer;
  SeenWriters seen(h.txn_count());
  OwnWrites own(h.key_count());
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    const auto external = [&](OpId op, KeyId key, const Seen& what) -> Rejection {
      TxnId writer = TxnId::none();
      const auto it = named.find({op.raw, key.raw});
      if (it != named.end()) {
        if (it->second != kNone) writer = TxnId(it->second);
      } else {
        const bool list = what.what == Seen::kList;
        for (const Written& w : subject.written(key)) {
          const bool fits = list ? !what.list.empty() && w.value == what.list.back()
                                 : what.fits(subject.version(w.op), h.null_value());
          if (fits && w.final && !subject.aborted(w.txn) && w.txn != TxnId(t)) writer = w.txn;
        }
      }
      seen[t].push_back(writer);
      return std::nullopt;
    };
    const auto internal = [](OpId, KeyId, const Seen&, OpId) -> Rejection { return std::nullopt; };
    walk_reads(subject, TxnId(t), own, external, internal);
  }
  return seen;
}

Rejection weak(Subject& subject, const Proof& p, Checked checked, std::string& text) {
  SeenWriters seen;
  auto wrong = satisfies_weak(subject, shape_of(p.level), p.order, p.reads_from, p.placings, &seen);
  // Whether the formula holds is for the other verifier to say too.
  if (wrong && seen.size() != subject.history().txn_count()) {
    if (checked == Checked::kYes) return wrong;
    seen = claimed_writers(subject, p);
  }
  fmt::format_to(std::back_inserter(text), "P {} weak\n", static_cast<int>(p.level));
  for (const Number t : p.order) {
    text += fmt::format("W {}", t);
    for (const TxnId w : seen[t]) text += w.valid() ? fmt::format(" {}", w.raw) : " -";
    text += '\n';
  }
  return std::nullopt;
}

Rejection satisfied(Subject& subject, const Proof& p, Checked checked, std::string& text) {
  const Shape shape = shape_of(p.level);
  const auto level = static_cast<int>(p.level);
  if (shape.is_weak()) return weak(subject, p, checked, text);
  if (!shape.one_object) {
    fmt::format_to(std::back_inserter(text), "P {} order\n", level);
    ids(p.order, text);
    return std::nullopt;
  }
  fmt::format_to(std::back_inserter(text), "P {} orders\n", level);
  for (const KeyOrder& o : p.orders) {
    fmt::format_to(std::back_inserter(text), "K {}\n", o.key);
    ids(o.order, text);
  }
  return std::nullopt;
}

Rejection violated(Subject& subject, const Proof& p, history::Time drift, Checked checked,
                   std::string& text) {
  std::string how, lines;
  if (checked == Checked::kYes) {
    Context context(subject, shape_of(p.level), drift);
    if (auto wrong = shows_violation(context, p.body, how)) return wrong;
  }
  Context context(subject, shape_of(p.level), drift);
  if (auto why = write_refutation(context, p.body, checked, lines)) return why;
  fmt::format_to(std::back_inserter(text), "P {} steps\n", static_cast<int>(p.level));
  text += lines;
  return std::nullopt;
}

}  // namespace

ProofText proof_text(const history::History& history, std::string_view certificate_json,
                     history::Time clock_drift_ns, Checked checked) {
  ProofText result;
  const Parsed parsed =
      parse(certificate_json, {history.txn_count(), history.op_count(), history.key_count()});
  if (parsed.what != Parsed::kWell) {
    result.trouble = parsed.trouble;
    return result;
  }
  Subject subject(history);
  subject.index_writes();
  const Document& document = parsed.document;
  std::vector<std::size_t> number;  // of each proof in the text
  std::vector<Rejection> why;
  std::size_t written = 0;
  for (const Proof& p : document.proofs) {
    why.push_back(p.satisfied ? satisfied(subject, p, checked, result.text)
                              : violated(subject, p, clock_drift_ns, checked, result.text));
    number.push_back(written);
    if (!why.back()) ++written;
  }
  for (const ClaimedAnswer& a : document.answers) {
    std::size_t by = a.proof;
    // A proof that was left out may have another in its place, from which the answer follows.
    for (std::size_t i = 0; i < why.size() && why[by]; ++i) {
      const Proof& p = document.proofs[i];
      const bool follows = a.satisfied ? implies(p.level, a.level) : implies(a.level, p.level);
      if (!why[i] && p.satisfied == a.satisfied && follows) by = i;
    }
    result.left_out.push_back(why[by].value_or(""));
    if (why[by]) continue;
    fmt::format_to(std::back_inserter(result.text), "N {} {} {}\n", static_cast<int>(a.level),
                   a.satisfied ? 1 : 0, number[by]);
  }
  return result;
}

}  // namespace cupel::certify
