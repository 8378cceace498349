// Tls: the client's side of TLS on a socket that does not block, by OpenSSL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/tcp.hpp"

namespace cupel::wire {

struct TlsOptions {
  enum class Check : std::uint8_t {
    kNothing,      // whoever answers
    kCertificate,  // it has a certificate of an authority that is trusted
    kHost          // … with the name of the host
  } check = Check::kNothing;
  std::string authorities = {};  // a file of certificates; empty: those of the system
  std::string host = {};         // a name or an address
};

class Tls {
 public:
  // Shakes hands. Errors: the other side has no TLS, or is not who it should be; a timeout.
  static base::Result<std::unique_ptr<Tls>> connect(int socket, const TlsOptions& options,
                                                    const base::Patience& patience);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // As recv() and send() of a socket that does not block: the bytes that were moved; 0: it is
  // closed; -1: an error, with errno.
  long receive(char* bytes, std::size_t size);
  long send(const char* bytes, std::size_t size);
  // Bytes have come that receive() gives and poll() does not see; at most those of one record.
  [[nodiscard]] bool has_more() const;

 private:
  struct State;
  explicit Tls(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupel::wire
