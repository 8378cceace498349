// Prefix and above: a first step, that reads what was committed last. That is within
// every level, but not all that a level allows.
#include <vector>

#include "mock/judge.hpp"

namespace cupel::mock {

namespace {

class SerialJudge final : public Judge {
 public:
  void begin(Txn t, Session /*session*/, Level /*level*/) override { txn_ = t; }
  void candidates(Key key, std::vector<Txn>& found) override {
    found.assign(1, key < last_.size() ? last_[key] : kInitial);
  }
  bool take(Key key, Txn writer) override {
    return writer == (key < last_.size() ? last_[key] : kInitial);
  }
  void untake() override {}
  bool write(Key key) override {
    writes_.push_back(key);
    return true;
  }
  void commit() override {
    for (const Key key : writes_) {
      if (key >= last_.size()) last_.resize(key + 1, kInitial);
      last_[key] = txn_;
    }
    writes_.clear();
  }
  void abort() override { writes_.clear(); }

 private:
  Txn txn_ = 0;
  std::vector<Key> writes_;
  std::vector<Txn> last_;
};

}  // namespace

std::unique_ptr<Judge> order_judge(Level /*level*/) { return std::make_unique<SerialJudge>(); }

}  // namespace cupel::mock
