// Random single objects: see the header.
#include "readers/random_objects.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "data/history/builder.hpp"
#include "readers/random_recording.hpp"

namespace cupel::test {

namespace {

using base::Random;
using history::TxnStatus;

// One operation between its invocation and its end.
struct OpenCall {
  std::string f;
  Document key, value;   // asked for: nothing, a value, or [expected desired]
  Document result;       // as the object answered
  bool done = false;     // the object has executed it
  bool refused = false;  // a compare-and-set of another value, a lock that is held
  std::size_t invoked = 0;
};

struct Ended {
  std::size_t process;
  OpenCall call;
  TxnStatus status;
  std::size_t completed;  // 0: never
};

class ObjectRecorder {
 public:
  explicit ObjectRecorder(std::uint64_t seed) : random_(seed * 3 + 1) {
    out_.object = static_cast<Object>(seed % 4);
    exotic_ = seed % 8 < 4;
    logged_ = out_.object == Object::kRegister && !exotic_;
  }

  ObjectRecording run() {
    const auto processes = 1 + random_.below(4);
    open_.resize(processes);
    holds_.resize(processes);
    for (auto steps = 4 + random_.below(30); steps > 0; --steps) step(random_.below(processes));
    for (std::size_t p = 0; p < processes; ++p) {
      if (!open_[p]) continue;
      ended_.push_back({p, *open_[p], TxnStatus::kIndeterminate, 0});
      out_.open_compare =
          out_.open_compare || open_[p]->f == "cas" || out_.object == Object::kMutex;
    }
    if (out_.object != Object::kStrings) expect();
    if (!logged_) out_.log.clear();
    return std::move(out_);
  }

 private:
  void step(std::size_t p) {
    if (!open_[p]) return invoke(p);
    if (!open_[p]->done && random_.chance(0.6)) return execute(*open_[p]);
    end(p);
  }

  Document value() {
    if (!exotic_) return Document::of(random_.between(0, 4));
    for (;;) {
      auto scalar = random_scalar(random_);
      const bool whole = scalar.kind != Document::Kind::kVector &&
                         scalar.kind != Document::Kind::kMap && !scalar.text.starts_with("{") &&
                         !scalar.text.starts_with("#{");
      if (whole) return scalar;
    }
  }

  void invoke(std::size_t p) {
    OpenCall call;
    switch (out_.object) {
      case Object::kRegister:
      case Object::kRegisters: {
        static constexpr const char* kFs[] = {"read", "write", "cas"};
        call.f = kFs[random_.below(3)];
        call.key = out_.object == Object::kRegister ? Document::of("register")
                                                    : Document::of(random_.between(0, 2));
        if (call.f == "write") call.value = value();
        if (call.f == "cas") call.value = Document::vector({value(), value()});
        break;
      }
      case Object::kMutex:
        call.f = holds_[p] ? "release" : "acquire";
        call.key = Document::of("mutex");
        break;
      case Object::kStrings: {
        static constexpr const char* kFs[] = {"get", "append", "put", "append"};
        call.f = kFs[random_.below(random_.chance(0.2) ? 3 : 2)];
        call.key = Document::of(std::to_string(random_.between(0, 1)));
        if (call.f != "get") call.value = Document::of(fmt::format("x {} {} y", p, ++texts_));
      }
    }
    call.invoked = out_.maps.size();
    line(p, "invoke", call.f, call, said(call, false));
    open_[p] = call;
  }

  void execute(OpenCall& call) {
    call.done = true;
    auto& held = state_[canonical_text(call.key)];
    if (call.f == "read" || call.f == "get") {
      // Sometimes the object is wrong.
      call.result = call.f == "read" && random_.chance(0.1) ? value() : held;
    } else if (call.f == "write" || call.f == "put") {
      held = call.value;
    } else if (call.f == "append") {
      held = Document::of(held.text + call.value.text);
    } else if (call.f == "cas") {
      call.refused = canonical_text(held) != canonical_text(call.value.items[0]);
      if (!call.refused) held = call.value.items[1];
    } else {
      const auto wanted = call.f == "acquire" ? "nil" : "\"held\"";
      call.refused = canonical_text(held) != wanted;
      if (!call.refused) held = call.f == "acquire" ? Document::of("held") : Document::null();
    }
  }

  // The value of a line, with its key where there are several registers.
  Document said(const OpenCall& call, bool ok) const {
    const bool reads = call.f == "read" || call.f == "get";
    const auto& value = reads && ok ? call.result : call.value;
    if (out_.object != Object::kRegisters) return value;
    return Document::vector({call.key, value});
  }

  void end(std::size_t p) {
    const auto call = *open_[p];
    auto status = TxnStatus::kCommitted;
    if (call.refused || (!call.done && random_.chance(0.4))) status = TxnStatus::kAborted;
    if ((!call.done || random_.chance(0.1)) && status == TxnStatus::kCommitted)
      status = TxnStatus::kIndeterminate;
    const auto completed = out_.maps.size();
    if (status == TxnStatus::kCommitted) {
      if (out_.object == Object::kMutex) holds_[p] = call.f == "acquire";
      // What was written need not be said again.
      const bool silent = call.f != "read" && call.f != "get" && random_.chance(0.1);
      line(p, "ok", call.f, call, silent ? Document::null() : said(call, true));
      logged_ = logged_ && !silent;
    } else {
      const Document why[] = {Document::null(), Document::keyword("timed-out")};
      if (out_.object == Object::kMutex && call.f == "release") holds_[p] = false;
      // The logs of Knossos say more about a compare-and-set that failed.
      logged_ = logged_ && !(status == TxnStatus::kAborted && call.f == "cas");
      line(p, status == TxnStatus::kAborted ? "fail" : "info", call.f, call,
           logged_ ? why[1] : why[random_.below(2)]);
    }
    ended_.push_back({p, call, status, completed});
    open_[p].reset();
  }

  void line(std::size_t p, const char* type, const std::string& f, const OpenCall& call,
            const Document& value) {
    std::vector<std::pair<std::string, Document>> members = {
        {"type", Document::of(type)},
        {"process", Document::of(static_cast<std::int64_t>(p))},
        {"f", Document::of(f)},
        {"value", value}};
    if (out_.object == Object::kStrings) members.emplace_back("key", call.key);
    out_.maps.push_back(Document::map(std::move(members)));
    out_.log += fmt::format("INFO  jepsen.util - {}\t:{}\t:{}\t{}\n", p, type, f, to_edn(value));
  }

  void expect() {
    history::HistoryBuilder b;
    const auto value = [&](const Document& d) {
      std::string text;
      return b.value(scalar_of(d, text));
    };
    // Sessions are numbered as they appear.
    for (const auto& map : out_.maps) {
      b.session(std::to_string(map.members[1].second.integer));
    }
    for (const auto& [p, call, status, completed] : ended_) {
      std::string text;
      const auto key = b.key(scalar_of(call.key, text));
      const bool over = completed != 0;
      b.begin(b.session(std::to_string(p)), status,
              {.invoke = static_cast<history::Time>(call.invoked),
               .complete = over ? static_cast<history::Time>(completed) : history::kNoTime,
               .label = static_cast<std::uint32_t>(over ? completed : call.invoked)});
      if (call.f == "read") {
        b.read(key,
               status == TxnStatus::kCommitted ? value(call.result) : history::ValueId::none());
      } else if (call.f == "write") {
        b.write(key, value(call.value));
      } else if (call.f == "cas") {
        b.compare_and_set(key, value(call.value.items[0]), value(call.value.items[1]), true);
      } else {
        const auto free = b.null_value(), held = value(Document::of("held"));
        const bool acquires = call.f == "acquire";
        b.compare_and_set(key, acquires ? free : held, acquires ? held : free, true);
      }
      b.end();
    }
    auto built = std::move(b).finish();
    if (!built.ok()) throw std::logic_error(built.error().to_string());
    out_.history = std::move(built).value();
  }

  Random random_;
  ObjectRecording out_{};
  bool exotic_ = false, logged_ = false;
  std::vector<std::optional<OpenCall>> open_;
  std::vector<bool> holds_;
  std::map<std::string, Document> state_;
  std::vector<Ended> ended_;
  int texts_ = 0;
};

}  // namespace

ObjectRecording random_objects(std::uint64_t seed) {
  return ObjectRecorder(seed).run();
}

}  // namespace cupel::test
