// Drawing for random statements, and those of their parts that name no column's type. The tables
// are t (int key), u (composite key, reference to t), p (no key).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace cupel::sql {

// A number that the environment asks for.
inline std::uint64_t asked(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class RandomSql {
 public:
  // Whether the order of the last statement's rows is part of its answer.
  bool ordered = false;

 protected:
  explicit RandomSql(std::uint64_t seed) : random_(seed) {}
  ~RandomSql() = default;

  // Over the columns of t while an Over lives, else over literals; `depth` bounds it.
  virtual std::string condition(int depth) = 0;

  std::size_t below(std::size_t count) { return random_() % count; }
  std::string pick(std::vector<std::string> all) { return all[below(all.size())]; }
  std::string number(std::size_t count) { return std::to_string(below(count)); }

  struct Over {  // columns of t may be named while it lives
    explicit Over(RandomSql& author) : author_(author) { author_.table_ = true; }
    ~Over() { author_.table_ = false; }
    RandomSql& author_;
  };
  [[nodiscard]] bool over_table() const { return table_; }

  std::string where() {
    return below(4) == 0 ? "" : " WHERE " + condition(1 + static_cast<int>(below(2)));
  }
  std::string having() { return pick({"", " HAVING count(*) > 1", " HAVING max(id) > 2"}); }
  std::string join() {
    return "SELECT " + pick({"*", "t.id, u.y", "t.w, u.q, u.x", "count(*)"}) + " FROM t" +
           pick({" JOIN ", " LEFT JOIN "}) + "u ON " +
           pick({"t.id = u.t", "t.id = u.x", "t.a = u.x AND u.q > 1", "u.y = t.w"}) +
           pick({"", " WHERE u.q IS NULL", " WHERE t.id > 1", " WHERE u.x = 1 AND t.a <> 0"});
  }
  std::string sub_query() {
    return pick({"SELECT id FROM t WHERE id IN (SELECT t FROM u)",
                 "SELECT id FROM t WHERE a NOT IN (SELECT q FROM u)",
                 "SELECT id, (SELECT count(*) FROM u WHERE u.t = t.id) FROM t",
                 "SELECT w FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.y = t.w)",
                 "SELECT x, y FROM u WHERE q IN (SELECT a + 1 FROM t)",
                 "SELECT id FROM t WHERE a = (SELECT max(a) FROM t)", "SELECT (SELECT id FROM t)"});
  }

 private:
  std::mt19937_64 random_;
  bool table_ = false;
};

}  // namespace cupel::sql
