// One function a kind of edge: see the header. Operations that the derivation
// leaves out are looked up: a transaction's first read of a key, its last write.
#include "engine/explain/why/sentences.hpp"

#include <fmt/format.h>

#include "data/history/naming.hpp"
#include "data/history/times.hpp"

namespace cupel::explain {

namespace {

struct Speaker {
  const History& history;
  Words& words;
  const Derivation& derivation;
  const Edge& edge;
  const std::string& proof;
  TxnId source;                // where the path of reasons begins
  std::optional<Edge> within;  // the one reason, stated in the clause

  OpId or_read(OpId op, TxnId txn) const {
    return op.valid() ? op : words.find_read(txn, edge.key);
  }
  OpId or_write(OpId op, TxnId txn) const {
    return op.valid() ? op : words.find_write(txn, edge.key);
  }
  // "T4's write of 3 to x".
  std::string deed(TxnId txn, OpId op) {
    if (!txn.valid()) return words.versions_owner(txn, op, edge.key) + " of " + key();
    const OpId write = or_write(op, txn);
    const auto who = words.txn(txn);
    return fmt::format("{}'s {}", who,
                       write.valid() ? words.write_noun(write) : "write of " + key());
  }
  std::string key() const { return words.key(edge.key); }
  // "3"; "delete".
  std::string mark(TxnId txn, OpId op) {
    const OpId write = txn.valid() ? or_write(op, txn) : OpId::none();
    if (!write.valid())
      return txn.valid() ? "version" : words.value(history.initial_value(edge.key));
    if (words.of_mutex()) return words.write_noun(write);
    return history.kind(write) == history::OpKind::kDelete ? "delete"
                                                           : words.value(words.written(write));
  }
  // "wrote 3"; of a mutex "acquired the mutex". `had`: "had written 3".
  std::string did(TxnId txn, OpId op, bool had) {
    const OpId write = words.of_mutex() ? or_write(op, txn) : OpId::none();
    if (write.valid()) return (had ? "had " : "") + words.write_clause(write);
    return (had ? "had written " : "wrote ") + mark(txn, op);
  }
  std::string cited() const { return proof.empty() ? std::string() : " " + proof; }
  std::string clause_of(const Edge& other) { return clause(history, words, derivation, other, {}); }

  std::string session() {
    if (!edge.from.valid()) return "it is where everything begins";
    const auto session = history::session_text(history, history.session(edge.to));
    const auto earlier = words.txn(edge.from);
    words.txn(edge.to);
    return fmt::format("{} comes first in session {}", earlier, session);
  }

  std::string real_time() {
    const auto earlier = words.txn(edge.from);
    const auto later = words.txn(edge.to);
    const auto end = edge.from.valid() ? history.complete(edge.from) : history::kNoTime;
    const auto start = edge.to.valid() ? history.invoke(edge.to) : history::kNoTime;
    const bool places = history.times_are_places();
    if (end == history::kNoTime || start == history::kNoTime || start < end || places) {
      return fmt::format("{} was complete before {} was invoked", earlier, later);
    }
    if (start == end) return fmt::format("{} was complete when {} was invoked", earlier, later);
    return fmt::format("{} was complete {} before {} was invoked", earlier,
                       duration(history::between(end, start)), later);
  }

  std::string write_read() {
    const auto reader = words.txn(edge.to);
    const auto got = words.answer(or_read(edge.to_op, edge.to), edge.key, focus_of(words, edge));
    if (!edge.from.valid())
      return fmt::format("{} {} of {}, the initial state", reader, got, key());
    auto seen = fmt::format("{} saw {}", reader, deed(edge.from, edge.from_op));
    switch (edge.reason) {
      case Reason::kOnlyWriter:
        return fmt::format("{}: no other write of that value can have been read{}", seen, cited());
      case Reason::kAssumed:
        return fmt::format("{} (assumed)", seen);
      default:
        return seen;
    }
  }

  // How `edge.from` was visible to the reader who read `edge.to`'s version.
  std::string visibly(const std::string& reader) {
    const auto older = words.txn(edge.from);
    auto plain = fmt::format("although {}'s {} was visible to it{}", older,
                             mark(edge.from, edge.from_op), cited());
    if (!within || within->from != edge.from || within->to != edge.reader) return plain;
    switch (within->kind) {
      case EdgeKind::kSession:
        return fmt::format("although {} {} before in session {}", older,
                           did(edge.from, edge.from_op, false),
                           history::session_text(history, history.session(edge.from)));
      case EdgeKind::kRealTime:
        return fmt::format("although {} {} and was complete before {} was invoked", older,
                           did(edge.from, edge.from_op, true), reader);
      case EdgeKind::kWriteRead: {
        const OpId other =
            within->from_op.valid() ? within->from_op : words.find_write(within->from, within->key);
        if (!other.valid()) return plain;
        if (const OpId read =
                within->to_op.valid() ? within->to_op : words.find_read(within->to, within->key);
            read.valid()) {
          words.answer(read, within->key, focus_of(words, *within));  // to be listed
        }
        if (within->key == edge.key) {
          return fmt::format("although it saw {}'s {} too", older, words.write_noun(other));
        }
        return fmt::format("although it saw {}'s {}, and {} wrote {} to {} as well", older,
                           words.write_noun(other), older, mark(edge.from, edge.from_op), key());
      }
      default:
        return plain;
    }
  }

  std::string write_write() {
    switch (edge.reason) {
      case Reason::kVisible: {
        const auto reader = words.txn(edge.reader);
        const OpId read = or_read(edge.witness, edge.reader);
        const auto focus = focus_of(words, edge);
        const auto got = words.answer(read, edge.key, focus);  // to be listed
        const bool list = read.valid() && history.kind(read) == history::OpKind::kListRead;
        const auto version = words.versions_owner(edge.to, edge.to_op, edge.key);
        deed(edge.from, edge.from_op);  // to be listed
        const auto read_it = words.of_mutex()
                                 ? fmt::format("found {} as {} left it", key(), version)
                                 : fmt::format("{} from {}", list ? got : "read " + version, key());
        return fmt::format("{} {} {}: so {}'s {} must be older{}", reader, read_it, visibly(reader),
                           words.txn(edge.from), mark(edge.from, edge.from_op),
                           list ? " than " + version : "");
      }
      case Reason::kListOrder: {
        deed(edge.from, edge.from_op);
        deed(edge.to, edge.to_op);
        const auto older = words.versions_owner(edge.from, edge.from_op, edge.key);
        const auto newer = words.versions_owner(edge.to, edge.to_op, edge.key);
        if (!edge.witness.valid()) return fmt::format("{} precedes {} in {}", older, newer, key());
        const auto reader = words.txn(history.txn_of(edge.witness));
        return fmt::format("{} precedes {} in {}: {} {}", older, newer, key(), reader,
                           words.answer(edge.witness, edge.key, focus_of(words, edge)));
      }
      case Reason::kNoOverlap:
        deed(edge.from, edge.from_op);
        deed(edge.to, edge.to_op);
        if (edge.to_point != levels::Point::kBegin) {  // they might overlap: it is by the path
          return fmt::format("{}, and {} must come before {}{}", words.both_wrote(edge.key),
                             words.txn(edge.from), words.txn(edge.to), cited());
        }
        if (proof.empty()) {
          return fmt::format(
              "{}, so one committed before the other began, and {} must have been first",
              words.both_wrote(edge.key), words.txn(edge.from));
        }
        return fmt::format(
            "{}, so one committed before the other began, and that one was not {} {}",
            words.both_wrote(edge.key), words.txn(edge.to), proof);
      case Reason::kAssumed:
        return fmt::format("we assume that {} is older than {} in {}",
                           words.versions_owner(edge.from, edge.from_op, edge.key),
                           words.versions_owner(edge.to, edge.to_op, edge.key), key());
      default:
        return fmt::format("{} is older than {}", deed(edge.from, edge.from_op),
                           words.versions_owner(edge.to, edge.to_op, edge.key));
    }
  }

  std::string read_write() {
    const auto reader = words.txn(edge.from);
    const OpId read = or_read(edge.from_op, edge.from);
    const auto got = words.answer(read, edge.key, focus_of(words, edge));
    const auto missed = fmt::format("{} did not see {}", reader, deed(edge.to, edge.to_op));
    const bool plain_read = !read.valid() || history.kind(read) == history::OpKind::kRead;
    switch (edge.reason) {
      case Reason::kInitial:
        return plain_read ? fmt::format("{}: it read the initial {}", missed,
                                        words.value(history.initial_value(edge.key)))
                          : fmt::format("{}: it {}", missed, got);
      case Reason::kOverwritten: {
        const auto version = words.versions_owner(edge.writer, OpId::none(), edge.key);
        const auto it = plain_read ? "it read " + version
                        : words.of_mutex()
                            ? fmt::format("it found the mutex as {} left it", version)
                            : fmt::format("it {}, up to {}", got, version);
        if (within && within->reason == Reason::kListOrder && within->witness.valid()) {
          return fmt::format("{}: it {}, where {} {}", missed, got,
                             words.txn(history.txn_of(within->witness)),
                             words.answer(within->witness, edge.key, focus_of(words, *within)));
        }
        if (within) {
          const bool replaced = within->kind == EdgeKind::kWriteRead && within->key == edge.key &&
                                within->from == edge.writer && within->to == edge.to;
          if (replaced) {
            const OpId its_read =
                within->to_op.valid() ? within->to_op : words.find_read(within->to, within->key);
            if (its_read.valid()) words.answer(its_read, edge.key);  // to be listed
            return fmt::format("{}: {}, which {} read too and replaced", missed, it,
                               words.txn(edge.to));
          }
          return fmt::format("{}: {}, which is older, because {}", missed, it, clause_of(*within));
        }
        return fmt::format("{}: {}, which {} older{}", missed, it, proof.empty() ? "must be" : "is",
                           cited());
      }
      case Reason::kAssumed: {
        // With reasons: one of several writers is tried, and they lead on from it.
        if (edge.because.empty()) return fmt::format("{}, as assumed: it {}", missed, got);
        const TxnId writer = edge.writer.valid() ? edge.writer : source;
        return fmt::format("{}: it read {}, as assumed, which is older{}", missed,
                           words.versions_owner(writer, OpId::none(), edge.key), cited());
      }
      default:
        return fmt::format("{}: it {}", missed, got);
    }
  }
};

}  // namespace

std::optional<Edge> reason_within(const Derivation& derivation, const Edge& edge) {
  if (edge.reason != Reason::kVisible && edge.reason != Reason::kOverwritten) return std::nullopt;
  const Path path = contracted(derivation, edge.because);
  if (path.size() != 1 || !path[0].edge.because.empty() ||
      path[0].edge.reason == Reason::kAssumed) {
    return std::nullopt;
  }
  return path[0].edge;
}

std::vector<history::ValueId> focus_of(const Words& words, const Edge& edge) {
  std::vector<history::ValueId> focus;
  for (const OpId op : {edge.from_op, edge.to_op, words.find_write(edge.from, edge.key),
                        words.find_write(edge.to, edge.key)}) {
    if (op.valid() && words.writes(op, edge.key)) focus.push_back(words.written(op));
  }
  return focus;
}

std::string relation(Words& words, const Edge& edge) {
  using levels::Point;
  const auto from = words.txn(edge.from);
  const auto to = words.txn(edge.to);
  if (edge.from_point == Point::kWhole && edge.to_point == Point::kWhole) {
    return fmt::format("{} < {}", from, to);
  }
  const auto did = [](Point point) {
    return point == Point::kBegin ? " began" : point == Point::kCommit ? " committed" : "";
  };
  return fmt::format("{}{} before {}{}", from, did(edge.from_point), to, did(edge.to_point));
}

std::string clause(const History& history, Words& words, const Derivation& derivation,
                   const Edge& edge, const std::string& proof) {
  const TxnId source =
      edge.because.empty() ? TxnId::none() : derivation.edges[edge.because.front()].from;
  Speaker speaker{history, words, derivation, edge, proof, source, reason_within(derivation, edge)};
  switch (edge.kind) {
    case EdgeKind::kOwn:
      return fmt::format("{} begins before it commits", words.txn(edge.from));
    case EdgeKind::kSession:
      return speaker.session();
    case EdgeKind::kRealTime:
      return speaker.real_time();
    case EdgeKind::kWriteRead:
      return speaker.write_read();
    case EdgeKind::kWriteWrite:
      return speaker.write_write();
    case EdgeKind::kReadWrite:
      return speaker.read_write();
    case EdgeKind::kSaw:
      break;  // in no cycle and no reason
  }
  return {};
}

}  // namespace cupel::explain
