// PostgreSQL's protocol: batches up to a Sync or a Flush; see the header.
#include <algorithm>
#include <utility>

#include "mock/proxy/dialogue.hpp"
#include "mock/proxy/footprint.hpp"
#include "mock/proxy/messages.hpp"
#include "mock/wire/bytes.hpp"

namespace cupel::proxy {

namespace postgres = wire::postgres;

namespace {

constexpr std::size_t kMostRows = 10'000,
                      kMostRowBytes = std::size_t{4} << 20;  // kept of an answer

class PostgresDialogue final : public Dialogue {
 public:
  explicit PostgresDialogue(const Options& options) : options_(options) {}

  bool from_client(Link& link) override {
    using Kind = postgres::Decoded<Frame>::Kind;
    if (link.phase == Link::Phase::kOpening) return open(link);
    const auto bytes = link.client.in.bytes();
    const auto frame = decode_frame(bytes);
    if (frame.kind == Kind::kMalformed) refuse(link, "08P01", frame.wrong);
    if (frame.kind != Kind::kMessage) return false;
    const auto whole = bytes.substr(0, frame.size);
    if (link.phase == Link::Phase::kStartup || !options_.holds || link.copying) {
      if (link.copying && (frame.message.letter == 'c' || frame.message.letter == 'f'))
        link.copying = false;
      link.server.out += whole;
    } else if (batches_.size() + whole.size() > kLongestPassed) {
      refuse(link, "54000", "a batch of statements is too long for the proxy");
    } else if (batches_.add(frame.message, whole)) {
      link.waiting = batches_.take();
    }
    link.client.in.drop(frame.size);
    return true;
  }

  Step from_server(Link& link) override {
    using Kind = postgres::Decoded<Frame>::Kind;
    const auto bytes = link.server.in.bytes();
    if (bytes.empty()) return Step::kIncomplete;
    const auto frame = decode_frame(bytes);
    if (frame.kind == Kind::kMalformed)
      refuse(link, "08P01", "the server's answer: " + frame.wrong);
    if (frame.kind != Kind::kMessage) return Step::kIncomplete;
    done_ = false;
    if (!understand(link, frame.message)) link.client.out += bytes.substr(0, frame.size);
    link.server.in.drop(frame.size);
    return done_ ? Step::kDone : Step::kPassed;
  }

  [[nodiscard]] bool is_local(const Link& link) const override {
    return skipping_ || (!link.waiting->unreadable && link.state != 'F' &&
                         concern_only_the_client(link.waiting->requests, link.state != 'I'));
  }

  bool sent(Link& link) override {
    answers_left_ = link.running->answers;
    return link.running->end == 'H' && (skipping_ || answers_left_ == 0) && is_done(link);
  }

  [[nodiscard]] Batch farewell() const override {
    return {.bytes = std::string("X\0\0\0\4", 5), .leaves = true, .end = 'X'};
  }

  void refuse(Link& link, std::string_view sqlstate, const std::string& message) override {
    postgres::put_error(link.client.out,
                        {.severity = "FATAL", .sqlstate = sqlstate, .message = message});
    link.phase = Link::Phase::kClosing;
    link.server.socket.reset();
  }

 private:
  // The first messages. False: more has to come.
  bool open(Link& link) {
    using Kind = postgres::Decoded<postgres::Opening>::Kind;
    const auto bytes = link.client.in.bytes();
    const auto opening = postgres::decode_opening(bytes);
    if (opening.kind == Kind::kIncomplete) return false;
    if (opening.kind == Kind::kMalformed) {
      refuse(link, "08P01", opening.wrong);
      return false;
    }
    const std::string message(bytes.substr(0, opening.size));
    link.client.in.drop(opening.size);
    if (std::holds_alternative<postgres::EncryptionRequest>(opening.message)) {
      link.client.out += 'N';
      return true;
    }
    // A cancel request, or a version that the server refuses, passes as it is.
    link.server.out = message;
    if (const auto* startup = std::get_if<postgres::Startup>(&opening.message)) {
      link.server.out = with_database(message, options_.database_asked, options_.database_given);
      link.wanted_name = wanted_name(*startup);
      link.own_settings = has_own_settings(*startup);
    }
    link.phase = Link::Phase::kStartup;
    return true;
  }

  static std::string wanted_name(const postgres::Startup& startup) {
    std::string user, application;
    for (const auto& [name, value] : startup.parameters) {
      if (name == "user") user = value;
      if (name == "application_name") application = value;
    }
    return application.empty() ? user : application;
  }

  [[nodiscard]] bool has_own_settings(const postgres::Startup& startup) const {
    return std::any_of(startup.parameters.begin(), startup.parameters.end(), [&](const auto& one) {
      const auto& [name, value] = one;
      return (name == "user" && value != options_.user) || name.ends_with("isolation") ||
             (name == "options" && value.find("isolation") != std::string::npos);
    });
  }

  // True: it is not for the client.
  bool understand(Link& link, const Frame& frame) {
    wire::Reader reader(frame.body);
    switch (frame.letter) {
      case 'K':
        link.backend = reader.big<std::int32_t>();
        break;
      case 'Z':
        link.state = static_cast<char>(reader.big<std::uint8_t>());
        link.phase = Link::Phase::kReady;
        skipping_ = link.copying = false;
        done_ = true;
        break;
      case 'G':
      case 'W':
        link.copying = true;
        break;
      case 'R':
        return options_.tls && offers_login(link, frame.body);
      case 'N':
        return is_recorded(link, frame.body);
      default:
        if (link.running) answered(link, frame);
    }
    return false;
  }

  // The server offers SASL. Channel binding (…-PLUS) is to the TLS between the proxy and the
  // server, which the client does not see, so it is not offered to the client.
  static bool offers_login(Link& link, std::string_view body) {
    constexpr std::int32_t kSasl = 10;
    constexpr std::string_view kBinding = "-PLUS";
    wire::Reader reader(body);
    if (body.size() < 4 || reader.big<std::int32_t>() != kSasl) return false;
    std::string kept(body.substr(0, 4));
    for (std::size_t at = 4; at < body.size() && body[at] != '\0';) {
      const auto end = std::min(body.find('\0', at), body.size());
      const auto mechanism = body.substr(at, end - at);
      at = end + 1;
      if (mechanism.ends_with(kBinding)) continue;
      kept += mechanism;
      kept += '\0';
    }
    if (kept.size() == 4) return false;  // the client says what it lacks
    kept += '\0';
    link.client.out += 'R';
    wire::put_big(link.client.out, static_cast<std::int32_t>(kept.size() + 4));
    link.client.out += kept;
    return true;
  }

  bool is_recorded(Link& link, std::string_view body) const {
    if (options_.mark.empty()) return false;
    const auto fields = report_fields(body);
    const auto message = fields.find('M');
    if (message == fields.end() || !message->second.starts_with(options_.mark)) return false;
    link.answer.recorded.push_back(message->second.substr(options_.mark.size()));
    return true;
  }

  void answered(Link& link, const Frame& frame) {
    auto& answer = link.answer;
    bool ends = false;
    switch (frame.letter) {
      case 'T':
        answer.columns = result_columns(frame.body).value_or(std::vector<ResultColumn>());
        break;
      case 'D':
        if (options_.holds) keep_row(link, result_row(frame.body), frame.body.size());
        break;
      case 'C':
        answer.tag = std::string(frame.body.substr(0, frame.body.find('\0')));
        ends = true;
        break;
      case 'I':
      case 's':
        ends = true;
        break;
      case 'E': {
        auto fields = report_fields(frame.body);
        answer.code = fields['C'];
        answer.message = fields['M'];
        ends = true;
        if (link.running->end != 'Q') skipping_ = true;
        link.copying = false;
        break;
      }
      default:
        break;
    }
    if (ends) link.doing.answers.push_back(std::exchange(answer, {}));
    if (link.running->end != 'H') return;
    const bool counts = std::string_view("123TnCIs").find(frame.letter) != std::string_view::npos;
    if (frame.letter == 'E' || (counts && answers_left_ > 0 && --answers_left_ == 0))
      done_ = is_done(link);
  }

  // Of a batch up to a Flush: a transaction without BEGIN goes on until Sync.
  static bool is_done(Link& link) {
    if (link.state == 'I' && !link.doing.requests.empty()) link.state = 'F';
    return true;
  }

  const Options options_;
  Batches batches_;
  bool skipping_ = false;         // the server leaves out what comes before the next Sync
  std::size_t answers_left_ = 0;  // until a Flush is answered
  bool done_ = false;
};

}  // namespace

void keep_row(Link& link, std::optional<std::vector<std::optional<std::string>>> row,
              std::size_t bytes) {
  link.row_bytes += bytes;
  if (link.answer.rows.size() >= kMostRows || link.row_bytes > kMostRowBytes) {
    link.answer.rows_dropped = true;
  } else if (row) {
    link.answer.rows.push_back(std::move(*row));
  }
}

std::unique_ptr<Dialogue> postgres_dialogue(const Dialogue::Options& options) {
  return std::make_unique<PostgresDialogue>(options);
}

}  // namespace cupel::proxy
