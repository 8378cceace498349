// One function a kind of edge: see the header. Operations that the derivation
// leaves out are looked up: a transaction's first read of a key, its last write.
#include "explain/sentences.hpp"

#include <fmt/format.h>

#include "history/naming.hpp"

namespace cupel::explain {

namespace {

struct Speaker {
  const History& history;
  Words& words;
  const Edge& edge;
  TxnId source;  // where the path of reasons begins
  bool reasons;

  OpId or_read(OpId op, TxnId txn) const {
    return op.valid() ? op : words.find_read(txn, edge.key);
  }
  OpId or_write(OpId op, TxnId txn) const {
    return op.valid() ? op : words.find_write(txn, edge.key);
  }
  // "T4's x = 3", "the initial x = null".
  std::string version_of(TxnId txn, OpId op) {
    if (!txn.valid()) {
      return history.is_list(edge.key) ? words.version(OpId::none(), edge.key)
                                       : "the initial " + words.version(OpId::none(), edge.key);
    }
    const OpId write = or_write(op, txn);
    const auto name = words.txn(txn);
    return fmt::format("{}'s {}", name,
                       write.valid() ? words.version(write, edge.key)
                                     : fmt::format("write of {}", words.key(edge.key)));
  }
  std::string wrote(TxnId txn, OpId op) {
    const OpId write = or_write(op, txn);
    return fmt::format("{} {}", words.txn(txn),
                       write.valid() ? words.write_clause(write) : "wrote " + words.key(edge.key));
  }
  std::string saw(TxnId txn, OpId op) {
    const auto name = words.txn(txn);
    const auto focus = focus_of(words, edge);
    return fmt::format("{} {}", name, words.read_clause(or_read(op, txn), edge.key, focus));
  }

  std::string session() {
    if (!edge.from.valid())
      return fmt::format("{} comes after the initial state", words.txn(edge.to));
    const auto earlier = words.txn(edge.from);
    return fmt::format("{} comes before {} in session {}", earlier, words.txn(edge.to),
                       history::cut(history.session_name(history.session(edge.to))));
  }

  std::string real_time() {
    const auto earlier = words.txn(edge.from);
    const auto later = words.txn(edge.to);
    const auto end = edge.from.valid() ? history.complete(edge.from) : history::kNoTime;
    const auto start = edge.to.valid() ? history.invoke(edge.to) : history::kNoTime;
    if (end == history::kNoTime || start == history::kNoTime || start < end) {
      return fmt::format("{} completed before {} was invoked", earlier, later);
    }
    return fmt::format("{} completed {} before {} was invoked", earlier, duration(start - end),
                       later);
  }

  std::string write_read() {
    const auto seen = saw(edge.to, edge.to_op);
    if (!edge.from.valid()) return seen + ", the initial version";
    const OpId write = or_write(edge.from_op, edge.from);
    const auto writer = words.txn(edge.from);
    std::string by = writer + " wrote";
    if (write.valid()) {
      const auto op = history.op(write);
      words.write_clause(write);  // so that it is listed with the transaction
      if (op.kind == history::OpKind::kAppend) {
        by = fmt::format("{} appended", writer);
        if (edge.reason == Reason::kOnlyWriter) {
          return fmt::format("{}, and of the appenders of {} only {} can have been seen", seen,
                             words.value(op.value), writer);
        }
        if (edge.reason == Reason::kAssumed) {
          return fmt::format("suppose that {}, whose last element {} {}", seen,
                             words.value(op.value), by);
        }
        return fmt::format("{}, whose last element {} {}", seen, words.value(op.value), by);
      }
      if (op.kind == history::OpKind::kDelete) by = fmt::format("{} had deleted", writer);
    }
    switch (edge.reason) {
      case Reason::kOnlyWriter:
        return fmt::format(
            "{}, and of the transactions that wrote this value only {} can have been seen", seen,
            writer);
      case Reason::kAssumed:
        return fmt::format("suppose that {} from {}", seen, writer);
      default:
        return fmt::format("{}, which {}", seen, by);
    }
  }

  std::string write_write() {
    const auto older = version_of(edge.from, edge.from_op);
    const auto newer = version_of(edge.to, edge.to_op);
    switch (edge.reason) {
      case Reason::kVisible: {
        const auto from = words.txn(edge.from);
        const OpId read =
            edge.witness.valid() ? edge.witness : words.find_read(edge.reader, edge.key);
        return fmt::format("{} is older than {}: {} read {}, although {} was visible to it{}",
                           older, newer, words.txn(edge.reader), latter(read), from,
                           reasons ? ", because" : "");
      }
      case Reason::kListOrder: {
        if (!edge.witness.valid()) return fmt::format("{} comes before {}", older, newer);
        const auto reader = history.txn_of(edge.witness);
        const auto name = words.txn(reader);
        const auto focus = focus_of(words, edge);
        return fmt::format("{} comes before {}: {} {}", older, newer, name,
                           words.read_clause(edge.witness, edge.key, focus));
      }
      case Reason::kNoOverlap: {
        const auto from = words.txn(edge.from);
        const auto to = words.txn(edge.to);
        return fmt::format(
            "{} and {} both wrote {} and may not overlap, so {} committed before {} began: {} "
            "began "
            "before {} committed{}",
            from, to, words.key(edge.key), from, to, from, to, reasons ? ", because" : "");
      }
      case Reason::kAssumed:
        return fmt::format("suppose that {} is older than {}", older, newer);
      default:
        return fmt::format("{} is older than {}", older, newer);
    }
  }
  // What a reader saw instead, told by its read if that is short.
  std::string latter(OpId read) {
    if (read.valid()) {
      words.read_clause(read, edge.key, focus_of(words, edge));
      const auto kind = history.kind(read);
      if (kind == history::OpKind::kRead) {
        return fmt::format("{} = {}", words.key(edge.key), words.value(history.op(read).value));
      }
    }
    return edge.to.valid() ? "the latter" : "the initial version";
  }

  std::string read_write() {
    const auto seen = saw(edge.from, edge.from_op);
    const OpId write = or_write(edge.to_op, edge.to);
    switch (edge.reason) {
      case Reason::kInitial:
        if (history.is_list(edge.key))
          return fmt::format("{}; {} later", seen, wrote(edge.to, write));
        return fmt::format("{}, the initial version, which {}", seen, overwrote(write));
      case Reason::kListOrder:
        return fmt::format("{}, to which {} later", seen, wrote(edge.to, write));
      case Reason::kOverwritten: {
        const auto old = version_of(edge.writer, OpId::none());
        const auto writer = words.txn(edge.to);
        return fmt::format("{}, which {}: {}'s version is newer than {}{}", seen, overwrote(write),
                           writer, old, reasons ? ", because" : "");
      }
      case Reason::kAssumed: {
        // With reasons: one of several writers is tried, and they lead on from it.
        if (edge.because.empty()) {
          return fmt::format("suppose that {}, which is older than {}", seen,
                             version_of(edge.to, write));
        }
        const TxnId writer = edge.writer.valid() ? edge.writer : source;
        const auto from = words.txn(writer);
        const auto text =
            fmt::format("suppose that {} from {}, which {}", seen, from, overwrote(write));
        return reasons ? fmt::format("{} later, because", text) : text;
      }
      default:
        return fmt::format("{}, which {}", seen, overwrote(write));
    }
  }
  std::string overwrote(OpId write) {
    const auto writer = words.txn(edge.to);
    if (!write.valid()) return writer + " overwrote";
    words.write_clause(write);
    const auto op = history.op(write);
    if (op.kind == history::OpKind::kDelete) return writer + " deleted";
    if (op.kind == history::OpKind::kAppend) {
      return fmt::format("{} appended {} to", writer, words.value(op.value));
    }
    return fmt::format("{} overwrote with {}", writer, words.version(write, edge.key));
  }
};

}  // namespace

std::vector<history::ValueId> focus_of(const Words& words, const Edge& edge) {
  std::vector<history::ValueId> focus;
  for (const OpId op : {edge.from_op, edge.to_op, words.find_write(edge.from, edge.key),
                        words.find_write(edge.to, edge.key)}) {
    if (op.valid() && words.writes(op, edge.key)) focus.push_back(words.written(op));
  }
  return focus;
}

std::string sentence(const History& history, Words& words, const Derivation& derivation,
                     const Edge& edge, bool led_by_reasons) {
  const TxnId source =
      edge.because.empty() ? TxnId::none() : derivation.edges[edge.because.front()].from;
  Speaker speaker{history, words, edge, source, led_by_reasons};
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
