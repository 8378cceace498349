// Voter: votes by telephone for the contestants of a television show, some votes a
// telephone at most. After OLTPBench's benchmark of that name, which has it from VoltDB.
#include "application.hpp"

namespace cupel::applications {

namespace {

constexpr int kContestants = 6;
constexpr int kVotesOfTelephone = 10;
constexpr std::int64_t kTelephone = 2125550100;

class Voter final : public Application {
 public:
  [[nodiscard]] std::string name() const override { return "voter"; }
  [[nodiscard]] const std::vector<Assertion>& assertions() const override { return assertions_; }

  void load(Client& client) override {
    client.run(
        "CREATE TABLE contestants (contestant_number int PRIMARY KEY, contestant_name varchar(50) "
        "NOT NULL);"
        "CREATE TABLE area_code_state (area_code int PRIMARY KEY, state varchar(2) NOT NULL);"
        "CREATE TABLE votes (vote_id bigint PRIMARY KEY, phone_number bigint NOT NULL, "
        "state varchar(2) NOT NULL, contestant_number int NOT NULL REFERENCES contestants, "
        "created timestamp NOT NULL);"
        "CREATE INDEX idx_votes_phone_number ON votes (phone_number)");
    for (int i = 1; i <= kContestants; ++i) {
      client.query("INSERT INTO contestants VALUES ($1, $2)", i, "contestant " + std::to_string(i));
    }
    client.query("INSERT INTO area_code_state VALUES (212, 'NY')");
    votes_ = 0;
  }

  // A call's number is the client's, so that votes have keys of their own.
  void transact(Client& client, base::Random& random) override {
    const auto contestant = random.between(1, kContestants);
    if (client
            .query("SELECT contestant_number FROM contestants WHERE contestant_number = $1",
                   contestant)
            .rows.empty()) {
      throw Rollback{};
    }
    const auto votes =
        client.query("SELECT count(*) FROM votes WHERE phone_number = $1", kTelephone);
    if (votes.integer() >= kVotesOfTelephone) throw Rollback{};
    const auto state = client.query("SELECT state FROM area_code_state WHERE area_code = $1",
                                    kTelephone / 10000000);
    client.query("INSERT INTO votes VALUES ($1, $2, $3, $4, '2024-01-01 00:00:00')", ++votes_,
                 kTelephone, state.rows.empty() ? "XX" : state.text(), contestant);
  }

  std::vector<bool> violated(Client& client) override {
    return {client
                .query("SELECT phone_number FROM votes GROUP BY phone_number HAVING count(*) > $1",
                       kVotesOfTelephone)
                .rows.size() > 0};
  }

 private:
  std::vector<Assertion> assertions_ = {
      {"A14", "no telephone has more votes than " + std::to_string(kVotesOfTelephone)}};
  std::int64_t votes_ = 0;
};

}  // namespace

std::unique_ptr<Application> voter() {
  return std::make_unique<Voter>();
}

}  // namespace cupel::applications
