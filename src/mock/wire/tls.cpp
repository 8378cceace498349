// Tls by libssl; see the header.
#include "mock/wire/tls.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace cupel::wire {

namespace {

struct FreeTlsContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeTlsSession {
  void operator()(SSL* session) const { SSL_free(session); }
};

base::Error tls_error(const std::string& what) {
  char text[256] = "";
  const auto code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return {.message = code == 0 ? what : fmt::format("{}: {}", what, text)};
}

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

struct Tls::State {
  std::unique_ptr<SSL_CTX, FreeTlsContext> context;
  std::unique_ptr<SSL, FreeTlsSession> session;

  // What recv() and send() would say.
  long outcome(int moved) {
    if (moved > 0) return moved;
    const int why = SSL_get_error(session.get(), moved);
    const int number = errno;
    ERR_clear_error();
    if (why == SSL_ERROR_ZERO_RETURN) return 0;
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN
            : why == SSL_ERROR_SYSCALL && number != 0                 ? number
                                                                      : EPROTO;
    return -1;
  }
};

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::~Tls() = default;

base::Result<std::unique_ptr<Tls>> Tls::connect(int socket, const TlsOptions& options,
                                                const base::Patience& patience) {
  auto state = std::make_unique<State>();
  state->context.reset(SSL_CTX_new(TLS_client_method()));
  auto* context = state->context.get();
  if (context == nullptr) return tls_error("TLS cannot be used");
  if (options.check != TlsOptions::Check::kNothing) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const int loaded =
        options.authorities.empty()
            ? SSL_CTX_set_default_verify_paths(context)
            : SSL_CTX_load_verify_locations(context, options.authorities.c_str(), nullptr);
    if (loaded != 1) return tls_error("the certificates of the authorities cannot be read");
  }
  state->session.reset(SSL_new(context));
  auto* session = state->session.get();
  if (session == nullptr || SSL_set_fd(session, socket) != 1)
    return tls_error("TLS cannot be used");
  SSL_set_mode(session, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const bool address = is_address(options.host);
  if (!address) SSL_set_tlsext_host_name(session, options.host.c_str());
  if (options.check == TlsOptions::Check::kHost) {
    const int set =
        address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), options.host.c_str())
                : SSL_set1_host(session, options.host.c_str());
    if (set != 1) return tls_error("the host's name cannot be checked");
  }
  for (;;) {
    const int done = SSL_connect(session);
    if (done == 1) return std::unique_ptr<Tls>(new Tls(std::move(state)));
    const int why = SSL_get_error(session, done);
    const bool reads = why == SSL_ERROR_WANT_READ;
    if (!reads && why != SSL_ERROR_WANT_WRITE) {
      const auto verified = SSL_get_verify_result(session);
      return verified == X509_V_OK
                 ? tls_error("the server does not shake hands for TLS")
                 : base::Error{.message = fmt::format("the server's certificate: {}",
                                                      X509_verify_cert_error_string(verified))};
    }
    if (!patience.wait(socket, reads ? POLLIN : POLLOUT))
      return base::Error{.message = "the server does not shake hands for TLS in time"};
  }
}

long Tls::receive(char* bytes, std::size_t size) {
  ERR_clear_error();
  return state_->outcome(SSL_read(state_->session.get(), bytes,
                                  static_cast<int>(std::min<std::size_t>(size, INT_MAX))));
}

long Tls::send(const char* bytes, std::size_t size) {
  ERR_clear_error();
  return state_->outcome(SSL_write(state_->session.get(), bytes,
                                   static_cast<int>(std::min<std::size_t>(size, INT_MAX))));
}

bool Tls::has_more() const {
  return SSL_pending(state_->session.get()) > 0;
}

}  // namespace cupel::wire
