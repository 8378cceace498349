// Sessions: the transactions of the clients of a proxy, followed from batch to batch, and with them
// the footprint of each batch (footprint.hpp): an end of a transaction touches what all of it did.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mock/proxy/footprint.hpp"
#include "mock/proxy/request.hpp"

namespace cupel::proxy {

class Sessions {
 public:
  // `level`: of a transaction that names none.
  explicit Sessions(Isolation level, Dialect dialect = Dialect::kPostgres)
      : default_(level), dialect_(dialect) {}

  struct Followed {
    Footprint footprint = {};
    Isolation level = Isolation::kSerializable;  // of the batch's (last) transaction
  };
  // The batches in the order in which they were done.
  Followed follow(const Executed& executed, const Catalog& catalog);
  // Of a batch that was begun, and waits.
  Footprint begun(const Executed& executed, const Catalog& catalog);
  // The statements of a text, which are parsed once.
  const std::vector<StatementText>& read(const std::string& text);

 private:
  struct Session {
    Isolation default_level = Isolation::kSerializable, level = Isolation::kSerializable;
    std::optional<Isolation> next_level = {};  // of the next transaction only
    bool has_snapshot = false;
    Footprint transaction = {};  // its shares, writes and whether it is unknown
  };
  void follow(Session& session, const StatementText& statement, Footprint touched,
              Footprint& footprint) const;
  static void start_over(Session& session);
  void take_level(Session& session, const StatementText& statement, Footprint& touched) const;
  static void end(Session& session, Footprint& footprint);

  const Isolation default_;
  const Dialect dialect_;
  std::map<std::string, Session> sessions_;
  std::map<std::string, std::vector<StatementText>> read_;
};

}  // namespace cupel::proxy
