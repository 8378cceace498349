// Context writer: see the header. Ids are written as the default ones; what an operation says in
// `seen` becomes a version of its replica before it.
#include "crdt/io/context_writer.hpp"

#include <fmt/format.h>

#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

std::string_view process_text(const History& history, std::uint32_t replica) {
  const std::string_view name = history.replicas[replica];
  return name.starts_with('"') ? name.substr(1, name.size() - 2) : name;
}

}  // namespace

ContextWriter::ContextWriter(const History& history, bool edn)
    : history_(history),
      edn_(edn),
      receptions_(history.replicas.size()),
      next_(history.replicas.size(), 0),
      met_(history.replicas.size(), false) {
  if (!history.context.is_known()) return;
  numbers_.resize(history.ops.size());
  std::vector<std::uint32_t> updates(history.replicas.size(), 0);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    auto& number = updates[history.ops[id].replica];
    numbers_[id] = number;
    number += is_read(history.ops[id].kind) ? 0 : 1;
  }
  for (std::uint32_t i = 0; i < history.context.receptions.size(); ++i)
    receptions_[history.context.receptions[i].replica].push_back(i);
  messages_.resize(history.context.receptions.size());
  for (const auto& own : receptions_) {
    std::uint32_t sent = 0;
    for (const auto i : own)
      messages_[i] = history.context.receptions[i].kind == Reception::Kind::kSent ? sent++ : 0;
  }
}

std::string ContextWriter::rule() const {
  const auto rule = history_.context.rule;
  if (!history_.context.is_known() || rule == DeliveryRule::kCausal) return "";
  const auto* const name = rule == DeliveryRule::kFifo ? "fifo" : "applied";
  return edn_ ? fmt::format("{{:f :delivery, :value :{}}}\n", name)
              : fmt::format("{{\"f\":\"delivery\",\"value\":\"{}\"}}\n", name);
}

std::string ContextWriter::message(std::uint32_t sent) const {
  const auto replica = history_.context.receptions[sent].replica;
  return text::quoted(fmt::format("{}!{}", process_text(history_, replica), messages_[sent]));
}

std::string ContextWriter::name(const NamedUpdates& named) const {
  if (named.kind == NamedUpdates::Kind::kMessage) return message(named.of);
  const auto replica = history_.ops[named.of].replica;
  return text::quoted(fmt::format("{}:{}", process_text(history_, replica), numbers_[named.of]));
}

std::string ContextWriter::names(const Reception& reception) const {
  const auto updates = history_.context.updates(reception);
  const auto* const comma = edn_ ? " " : ",";
  std::string text;
  if (!updates.empty() && updates[0].kind == NamedUpdates::Kind::kFirst) {
    for (const NamedUpdates& first : updates) {
      text += fmt::format("{}{}{}{}", text.empty() ? "" : comma,
                          text::quoted(process_text(history_, first.of)), edn_ ? " " : ":",
                          first.count);
    }
    return "{" + text + "}";
  }
  for (const NamedUpdates& named : updates) text += (text.empty() ? "" : comma) + name(named);
  return "[" + text + "]";
}

std::string ContextWriter::line(std::uint32_t at) const {
  const Reception& reception = history_.context.receptions[at];
  const auto& process = history_.replicas[reception.replica];
  if (reception.kind == Reception::Kind::kSent) {
    return edn_
               ? fmt::format("{{:process {}, :f :send, :id {}}}\n", process, message(at))
               : fmt::format("{{\"process\":{},\"f\":\"send\",\"id\":{}}}\n", process, message(at));
  }
  const auto* const method = reception.kind == Reception::Kind::kVersion ? "version" : "deliver";
  if (edn_)
    return fmt::format("{{:process {}, :f :{}, :value {}}}\n", process, method, names(reception));
  return fmt::format("{{\"process\":{},\"f\":\"{}\",\"value\":{}}}\n", process, method,
                     names(reception));
}

std::string ContextWriter::before(std::uint32_t replica, std::uint32_t seq) {
  if (!met_[replica]) {
    met_[replica] = true;
    in_order_.push_back(replica);
  }
  std::string text;
  for (auto& at = next_[replica]; at < receptions_[replica].size(); ++at) {
    if (history_.context.receptions[receptions_[replica][at]].seq > seq) break;
    text += line(receptions_[replica][at]);
  }
  return text;
}

std::string ContextWriter::rest() {
  // A reader numbers replicas as it meets them. So those with operations come first here, too: then
  // what is read back is written the same.
  std::string text;
  const auto met = in_order_;
  for (const auto r : met) text += before(r, kNone);
  for (std::uint32_t r = 0; r < receptions_.size(); ++r) text += before(r, kNone);
  return text;
}

}  // namespace cupel::crdt
