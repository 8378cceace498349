// Document check: maps with nested values, for the verifier, by the axioms of
// docs/reference/documents.md. It shares no code with solve/document.hpp.
//
// What is in a counter, list, text, set or register is checked as a history of that type, which has
// the updates of all containers of the kind and what the reads show of them. Where a remove undoes
// updates (Removal::kUndoesWithin), only lists and texts are; of the others each read is compared
// with the visible updates that no visible remove undid.
//
// Cost: operations × replicas and the sizes of the reads; by kUnlessWithin and kUndoesWithin each
// read compares the updates of what it shows with the removes, so that long histories are left
// unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crdt/model/document.hpp"
#include "crdt/verify/asked_order.hpp"
#include "crdt/verify/seen_updates.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

class DocumentCheck {
 public:
  DocumentCheck(const History& history, const SeenUpdates& seen);

  // The first operation that is wrong, by this order of the updates of each place.
  [[nodiscard]] std::optional<std::string> wrong_in_order(const std::vector<std::size_t>& place);

  struct Claims {
    bool is_wrong = false;  // an operation, whatever the order
    std::vector<LastChoice> choices = {};
  };
  // Of the operations that count; choices about these places only.
  Claims claims(const std::vector<bool>& counts, const std::set<std::uint32_t>& places);

  // The containers of one kind as a history with its deliveries.
  struct Part {
    History history;
    std::vector<OpId> origin;             // by operation
    std::vector<std::uint32_t> elements;  // by element
  };
  std::vector<Part> parts();

  // It compared too many updates, so that nothing is known.
  [[nodiscard]] bool is_too_much() const { return work_ > kMostWork; }

 private:
  struct Held {
    std::uint32_t place, value;
  };
  [[nodiscard]] bool sees(OpId op, OpId update) {
    ++work_;
    return seen_.sees(op, update);
  }
  [[nodiscard]] bool is_key_removal(const Operation& op) const {
    return op.kind == Kind::kDelete && index_.is_place(op.element);
  }
  [[nodiscard]] bool is_undone(OpId update, OpId read, std::uint32_t place, bool places_above);
  // The visible updates of a place that no visible one of it observed.
  struct Maximal {
    std::vector<OpId> updates;
    std::vector<OpId> latest;  // of each replica
  };
  void arrive(OpId update);
  template <typename Visit>
  void for_operations(Visit visit);
  [[nodiscard]] std::vector<OpId> candidates(OpId read, std::uint32_t place);
  [[nodiscard]] std::vector<Held> shown(OpId read) const;
  [[nodiscard]] std::vector<std::uint32_t> shown_containers(OpId read) const;
  [[nodiscard]] bool is_in_list(OpId read, std::uint32_t character);
  [[nodiscard]] std::vector<Held> claimed(OpId read) const;
  [[nodiscard]] bool misses_value(OpId read);
  [[nodiscard]] bool names_unseen(OpId update);
  [[nodiscard]] bool has_wrong_content(OpId read);
  [[nodiscard]] bool has_wrong_container(OpId read, std::uint32_t container,
                                         const std::vector<std::uint32_t>& members);
  [[nodiscard]] std::uint32_t value_after(OpId update) const {
    return h_.ops[update].kind == Kind::kPut ? h_.ops[update].parent : kNone;
  }

  static constexpr std::uint64_t kMostWork = 2'000'000'000;

  const History& h_;
  const SeenUpdates& seen_;
  const Rules& rules_;
  const DocumentIndex index_;
  std::vector<Maximal> maximal_;                       // by place, at the replica that is replayed
  std::vector<std::vector<OpId>> updates_at_;          // by place: puts and removes
  std::vector<std::vector<OpId>> updates_of_;          // by node: no removes of keys
  std::vector<std::vector<std::uint32_t>> places_of_;  // by node; of a list its containers
  std::vector<std::vector<std::uint32_t>> containers_at_;  // by place or character of a list
  std::uint64_t work_ = 0;
};

}  // namespace cupel::crdt
