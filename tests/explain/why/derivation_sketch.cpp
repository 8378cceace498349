// See the header.
#include "explain/why/derivation_sketch.hpp"

#include <stdexcept>
#include <string>

namespace cupel::test {

using levels::EdgeKind;
using levels::Reason;

history::TxnId DerivationSketch::txn(int label) const {
  if (label < 0) return history::TxnId::none();
  for (std::size_t t = 0; t < history_.txn_count(); ++t) {
    if (history_.label(history::TxnId(t)) == static_cast<std::uint32_t>(label))
      return history::TxnId(t);
  }
  throw std::invalid_argument("no transaction " + std::to_string(label));
}

history::KeyId DerivationSketch::key(std::string_view name) const {
  for (std::size_t k = 0; k < history_.key_count(); ++k) {
    if (history_.key(history::KeyId(k)).to_string() == name) return history::KeyId(k);
  }
  return history::KeyId::none();
}

history::OpId DerivationSketch::op(int label, std::uint32_t n) const {
  return history::OpId(history_.first_op(txn(label)) + n);
}

std::uint32_t DerivationSketch::add(int from, int to, EdgeKind kind, Reason reason,
                                    std::string_view name, Because because) {
  levels::Edge edge;
  edge.from = txn(from);
  edge.to = txn(to);
  edge.kind = kind;
  edge.reason = reason;
  edge.key = key(name);
  edge.because = std::move(because);
  edges_.push_back(std::move(edge));
  return static_cast<std::uint32_t>(edges_.size() - 1);
}

std::uint32_t DerivationSketch::so(int from, int to) {
  return add(from, to, EdgeKind::kSession, Reason::kGiven, "", {});
}
std::uint32_t DerivationSketch::rt(int from, int to) {
  return add(from, to, EdgeKind::kRealTime, Reason::kGiven, "", {});
}
std::uint32_t DerivationSketch::own(int t) {
  return add(t, t, EdgeKind::kOwn, Reason::kGiven, "", {});
}
std::uint32_t DerivationSketch::wr(int from, int to, std::string_view name, Reason reason) {
  return add(from, to, EdgeKind::kWriteRead, reason, name, {});
}
std::uint32_t DerivationSketch::ww(int from, int to, std::string_view name, Reason reason,
                                   Because because) {
  return add(from, to, EdgeKind::kWriteWrite, reason, name, std::move(because));
}
std::uint32_t DerivationSketch::visible(int from, int to, int reader, std::string_view name,
                                        Because because) {
  const auto index =
      add(from, to, EdgeKind::kWriteWrite, Reason::kVisible, name, std::move(because));
  edges_[index].reader = txn(reader);
  edges_[index].writer = txn(to);
  return index;
}
std::uint32_t DerivationSketch::rw(int from, int to, std::string_view name, int writer,
                                   Because because) {
  const auto reason = because.empty() ? Reason::kInitial : Reason::kOverwritten;
  const auto index = add(from, to, EdgeKind::kReadWrite, reason, name, std::move(because));
  edges_[index].reader = txn(from);
  edges_[index].writer = txn(writer);
  return index;
}
std::uint32_t DerivationSketch::rw_assumed(int from, int to, std::string_view name) {
  return add(from, to, EdgeKind::kReadWrite, Reason::kAssumed, name, {});
}
std::uint32_t DerivationSketch::list_rw(int from, int to, std::string_view name) {
  return add(from, to, EdgeKind::kReadWrite, Reason::kListOrder, name, {});
}
DerivationSketch& DerivationSketch::from_to(std::uint32_t edge, levels::Point from,
                                            levels::Point to) {
  edges_[edge].from_point = from;
  edges_[edge].to_point = to;
  return *this;
}

levels::Violation DerivationSketch::cycle(std::vector<std::uint32_t> edges) {
  levels::Violation violation;
  violation.derivation.edges = edges_;
  violation.derivation.cycle = std::move(edges);
  return violation;
}
levels::Violation DerivationSketch::cases(std::vector<std::vector<std::uint32_t>> cycles) {
  levels::Violation violation;
  violation.derivation.edges = edges_;
  for (auto& cycle : cycles) violation.derivation.cases.push_back({std::move(cycle)});
  return violation;
}

}  // namespace cupel::test
