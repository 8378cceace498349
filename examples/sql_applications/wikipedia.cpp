// Wikipedia: readers, editors and their watch lists, after OLTPBench's benchmark of that
// name, which has it from MediaWiki; two pages and two users. Each edit is recorded in the
// page's history (revision), in the log (logging) and in what is known of the user
// (user_editcount). As there, an edit is two transactions if somebody watches the page, and
// one if nobody does.
#include <optional>
#include <utility>

#include "application.hpp"

namespace cupel::applications {

namespace {

constexpr int kPages = 2;
constexpr int kUsers = 2;
constexpr const char* kLoaded = "20240101000000";
constexpr const char* kNow = "20240102000000";

// ID is what gives the numbers of texts, revisions, changes and log entries.
constexpr const char* kTables = R"(
CREATE TABLE useracct (
  user_id int PRIMARY KEY, user_name varchar(255) NOT NULL UNIQUE, user_touched varchar(14) NOT NULL,
  user_editcount int);
CREATE TABLE user_groups (
  ug_user int REFERENCES useracct, ug_group varchar(16), PRIMARY KEY (ug_user, ug_group));
CREATE TABLE ipblocks (
  ipb_id int PRIMARY KEY, ipb_address varchar(64) NOT NULL, ipb_user int NOT NULL,
  ipb_reason varchar(255) NOT NULL);
CREATE TABLE page (
  page_id int PRIMARY KEY, page_namespace int NOT NULL, page_title varchar(255) NOT NULL,
  page_is_new smallint DEFAULT 0 NOT NULL, page_is_redirect smallint DEFAULT 0 NOT NULL,
  page_touched varchar(14) NOT NULL, page_latest int NOT NULL, page_len int NOT NULL,
  UNIQUE (page_namespace, page_title));
CREATE TABLE page_backup (
  page_id int PRIMARY KEY, page_namespace int NOT NULL, page_title varchar(255) NOT NULL);
CREATE TABLE value_backup (table_name varchar(255) PRIMARY KEY, maxid int);
CREATE TABLE page_restrictions (
  pr_page int, pr_type varchar(60), pr_level varchar(60) NOT NULL, PRIMARY KEY (pr_page, pr_type));
CREATE TABLE text (
  old_id ID PRIMARY KEY, old_page int, old_text text NOT NULL, old_flags varchar(255) NOT NULL);
CREATE TABLE revision (
  rev_id ID PRIMARY KEY, rev_page int NOT NULL, rev_text_id int NOT NULL, rev_comment text NOT NULL,
  rev_user int NOT NULL, rev_timestamp varchar(14) NOT NULL, rev_len int, rev_parent_id int);
CREATE TABLE recentchanges (
  rc_id ID PRIMARY KEY, rc_timestamp varchar(14) NOT NULL, rc_user int NOT NULL, rc_namespace int NOT NULL,
  rc_title varchar(255) NOT NULL, rc_cur_id int NOT NULL, rc_this_oldid int NOT NULL,
  rc_last_oldid int NOT NULL);
CREATE TABLE logging (
  log_id ID PRIMARY KEY, log_type varchar(32) NOT NULL, log_action varchar(32) NOT NULL,
  log_timestamp varchar(14) NOT NULL, log_user int NOT NULL, log_namespace int NOT NULL,
  log_title varchar(255) NOT NULL, log_page int, log_params text NOT NULL);
CREATE TABLE watchlist (
  wl_user int, wl_namespace int, wl_title varchar(255), wl_notificationtimestamp varchar(14),
  PRIMARY KEY (wl_user, wl_namespace, wl_title));
CREATE INDEX rev_page_id ON revision (rev_page, rev_id);
CREATE INDEX log_page_time ON logging (log_page, log_timestamp))";

std::string title(int page) {
  return "Page " + std::to_string(page);
}
std::string address(int page) {
  return "192.0.2." + std::to_string(page);
}

class Wikipedia final : public Application {
 public:
  explicit Wikipedia(Numbers numbers) : numbers_(numbers) {}

  [[nodiscard]] std::string name() const override {
    return numbers_ == Numbers::kSerial ? "wikipedia-serial" : "wikipedia";
  }
  [[nodiscard]] const std::vector<Assertion>& assertions() const override { return assertions_; }

  void load(Client& client) override {
    std::string tables = kTables;
    const std::string type = numbers_ == Numbers::kSerial ? "serial" : "int";
    for (auto at = tables.find(" ID "); at != std::string::npos; at = tables.find(" ID ")) {
      tables.replace(at + 1, 2, type);
    }
    client.run(tables);
    for (int user = 1; user <= kUsers; ++user) {
      client.query("INSERT INTO useracct VALUES ($1, $2, $3, 0)", user,
                   "user " + std::to_string(user), kLoaded);
      client.query("INSERT INTO user_groups VALUES ($1, 'editors')", user);
    }
    // One page is watched, so that edits with and without watchers happen.
    client.query("INSERT INTO watchlist VALUES (1, 0, $1, NULL)", title(1));
    for (int page = 1; page <= kPages; ++page) {
      client.query("INSERT INTO page VALUES ($1, 0, $2, 1, 0, $3, 0, 0)", page, title(page),
                   kLoaded);
      client.query("INSERT INTO page_restrictions VALUES ($1, 'edit', 'editors')", page);
      revise(client, {page, 1, 0, 0}, kLoaded, "the first text of the page");
    }
    log_next_.reset();
    revised_.reset();
  }

  void transact(Client& client, base::Random& random) override {
    if (log_next_) return log(client, *log_next_, kNow);
    const int page = static_cast<int>(random.between(1, kPages));
    const int user = static_cast<int>(random.between(1, kUsers));
    const auto drawn = random.below(100);
    if (drawn < 60) {
      const auto words = "a text of " + std::to_string(random.between(1, 1000));
      revise(client, {page, user, 0, 0}, kNow, words);
    } else if (drawn < 70) {
      show(client, page, std::nullopt);
    } else if (drawn < 80) {
      show(client, page, user);
    } else if (drawn < 90) {
      watch(client, page, user);
    } else {
      unwatch(client, page, user);
    }
  }

  void ended(bool committed) override {
    // What was revised but not logged is logged next, however many tries that takes.
    if (committed) log_next_ = std::exchange(revised_, std::nullopt);
    revised_.reset();
  }
  [[nodiscard]] bool unfinished() const override { return log_next_.has_value(); }

  std::vector<bool> violated(Client& client) override {
    const auto any = [&](const char* offenders) { return client.query(offenders).integer() != 0; };
    return {any("SELECT count(*) FROM useracct WHERE user_editcount <> "
                "(SELECT count(*) FROM revision WHERE rev_user = user_id)"),
            any("SELECT count(*) FROM useracct WHERE user_editcount <> "
                "(SELECT count(*) FROM logging WHERE log_user = user_id)"),
            any("SELECT count(*) FROM page WHERE "
                "(SELECT count(*) FROM revision WHERE rev_page = page_id) <> "
                "(SELECT count(*) FROM logging WHERE log_page = page_id)")};
  }

 private:
  // The number of the row that is inserted by `insert`, whose first column is `id`.
  template <typename... Parameters>
  std::int64_t number(Client& client, const std::string& table, const std::string& id,
                      const std::string& columns, const std::string& values,
                      const Parameters&... parameters) const {
    const std::string insert = "INSERT INTO " + table + " (" + columns;
    if (numbers_ == Numbers::kSerial) {
      return client.query(insert + ") VALUES (" + values + ") RETURNING " + id, parameters...)
          .integer();
    }
    const auto next =
        client.query("SELECT coalesce(max(" + id + "), 0) + 1 FROM " + table).integer();
    client.query(insert + ", " + id + ") VALUES (" + values + ", $" +
                     std::to_string(sizeof...(parameters) + 1) + ")",
                 parameters..., next);
    return next;
  }

  struct Edit {
    int page, user;
    std::int64_t revision, parent;
  };

  // Logs the edit too if nobody watches the page.
  void revise(Client& client, Edit edit, const char* now, const std::string& words) {
    const auto length = static_cast<std::int64_t>(words.size());
    edit.parent =
        client.query("SELECT page_latest FROM page WHERE page_id = $1", edit.page).integer();
    const auto text = number(client, "text", "old_id", "old_page, old_text, old_flags",
                             "$1, $2, 'utf-8'", edit.page, words);
    edit.revision = number(
        client, "revision", "rev_id",
        "rev_page, rev_text_id, rev_comment, rev_user, rev_timestamp, rev_len, rev_parent_id",
        "$1, $2, 'a comment', $3, $4, $5, $6", edit.page, text, edit.user, now, length,
        edit.parent);
    client.query(
        "UPDATE page SET page_latest = $1, page_touched = $2, page_is_new = 0, "
        "page_is_redirect = 0, page_len = $3 WHERE page_id = $4",
        edit.revision, now, length, edit.page);
    number(client, "recentchanges", "rc_id",
           "rc_timestamp, rc_user, rc_namespace, rc_title, rc_cur_id, rc_this_oldid, rc_last_oldid",
           "$1, $2, 0, $3, $4, $5, $6", now, edit.user, title(edit.page), edit.page, edit.revision,
           edit.parent);
    const auto watchers = client.query(
        "SELECT wl_user FROM watchlist WHERE wl_title = $1 AND wl_namespace = 0 "
        "AND wl_user <> $2 AND wl_notificationtimestamp IS NULL",
        title(edit.page), edit.user);
    if (watchers.rows.empty()) return log(client, edit, now);
    revised_ = edit;
    for (const auto& watcher : watchers.rows) {
      client.query(
          "UPDATE watchlist SET wl_notificationtimestamp = $1 "
          "WHERE wl_title = $2 AND wl_namespace = 0 AND wl_user = $3",
          now, title(edit.page), watcher[0]);
    }
  }

  void log(Client& client, const Edit& edit, const char* now) const {
    number(client, "logging", "log_id",
           "log_type, log_action, log_timestamp, log_user, log_namespace, log_title, log_page, "
           "log_params",
           "'patrol', 'patrol', $1, $2, 0, $3, $4, $5", now, edit.user, title(edit.page), edit.page,
           std::to_string(edit.revision) + "\n" + std::to_string(edit.parent) + "\n1");
    client.query("UPDATE useracct SET user_editcount = user_editcount + 1 WHERE user_id = $1",
                 edit.user);
    client.query("UPDATE useracct SET user_touched = $1 WHERE user_id = $2", now, edit.user);
  }

  // As a user, or as nobody from an address.
  static void show(Client& client, int page, std::optional<int> user) {
    if (user) {
      client.query("SELECT * FROM useracct WHERE user_id = $1", *user);
      client.query("SELECT ug_group FROM user_groups WHERE ug_user = $1", *user);
    }
    const auto found = client.query(
        "SELECT page_id FROM page WHERE page_namespace = 0 AND page_title = $1 LIMIT 1",
        title(page));
    if (found.rows.empty()) throw Refused{"02000", "no page of this title"};
    client.query("SELECT * FROM page_restrictions WHERE pr_page = $1", found.rows[0][0]);
    if (user) {
      client.query("SELECT * FROM ipblocks WHERE ipb_user = $1", *user);
    } else {
      client.query("SELECT * FROM ipblocks WHERE ipb_address = $1", address(page));
    }
    const auto text = client.query(
        "SELECT rev_text_id FROM page, revision WHERE page_id = rev_page AND rev_page = $1 "
        "AND page_id = $1 AND rev_id = page_latest LIMIT 1",
        found.rows[0][0]);
    if (text.rows.empty()) throw Refused{"02000", "the page's latest revision is not there"};
    client.query("SELECT old_text, old_flags FROM text WHERE old_id = $1 LIMIT 1", text.rows[0][0]);
  }

  // The page and its talk page.
  static void watch(Client& client, int page, int user) {
    for (int space = 0; space <= 1; ++space) {
      client.query("INSERT INTO watchlist VALUES ($1, $2, $3, NULL) ON CONFLICT DO NOTHING", user,
                   space, title(page));
    }
    client.query("UPDATE useracct SET user_touched = $1 WHERE user_id = $2", kNow, user);
  }
  static void unwatch(Client& client, int page, int user) {
    for (int space = 0; space <= 1; ++space) {
      client.query(
          "DELETE FROM watchlist WHERE wl_user = $1 AND wl_namespace = $2 AND wl_title = $3", user,
          space, title(page));
    }
    client.query("UPDATE useracct SET user_touched = $1 WHERE user_id = $2", kNow, user);
  }

  Numbers numbers_;
  std::optional<Edit> revised_;   // by the transaction under way
  std::optional<Edit> log_next_;  // revised by the last one
  std::vector<Assertion> assertions_ = {
      {"A15", "a user's edit count is the number of the user's revisions"},
      {"A16", "a user's edit count is the number of the user's log entries"},
      {"A17", "a page has as many revisions as log entries"}};
};

}  // namespace

std::unique_ptr<Application> wikipedia(Numbers numbers) {
  return std::make_unique<Wikipedia>(numbers);
}

}  // namespace cupel::applications
