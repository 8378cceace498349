// The session as a dialect's own statements see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mock/store.hpp"
#include "sql/dialect/settings.hpp"
#include "sql/value/result.hpp"

namespace cupel::sql {

// The isolation of a session or of a transaction: the standard's name as asked for, and what it
// means here.
struct Isolation {
  std::string name;
  std::optional<mock::Level> level = {};
  bool read_only = false;
  bool deferrable = false;  // PostgreSQL's, without effect
};

class SessionControl {
 public:
  virtual ~SessionControl() = default;
  // Commits what is open and opens a transaction, which takes the isolation that was set for it.
  virtual void begin() = 0;
  [[nodiscard]] virtual bool in_block() const = 0;  // between BEGIN and COMMIT
  virtual void set_autocommit(bool wanted) = 0;

  // Of the session, or of its open or next transaction.
  enum class Scope : std::uint8_t { kSession, kTransaction };
  [[nodiscard]] virtual Isolation isolation_of(Scope scope) const = 0;
  virtual void set_isolation(const Isolation& isolation, Scope scope) = 0;
  // What the name means at least, and no less than the store's own level. Raises 22023.
  [[nodiscard]] virtual mock::Level level_for(const std::string& isolation) const = 0;

  [[nodiscard]] virtual const Settings& settings() const = 0;
  [[nodiscard]] virtual std::string setting(const std::string& name) const = 0;  // raises 42704
  virtual void set(const std::string& name, const std::string& value) = 0;
  [[nodiscard]] virtual std::string database() const = 0;
  virtual void set_database(const std::string& name) = 0;

  [[nodiscard]] virtual std::vector<std::string> tables() const = 0;
  // A row a column: its name, its type, "YES" or "NO" for NULL, "PRI", "UNI", "MUL" or "", its
  // default, and "auto_increment" or "". Raises 42P01.
  [[nodiscard]] virtual std::vector<std::vector<Datum>> described(
      const std::string& table) const = 0;
  // Ends the statement of another connection; false: there is none.
  virtual bool cancel(std::uint32_t connection) = 0;
};

}  // namespace cupel::sql
