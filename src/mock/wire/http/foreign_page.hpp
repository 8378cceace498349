// Foreign pages: requests that a web page in the user's browser sends to the server, which listens
// on loopback and may need no password.
//
// A page can send a POST with a plain body to any address (cross-site request forgery). It can also
// let its own name lead to this address and then read the answers, too (DNS rebinding). A browser
// says where a request comes from (Origin, Sec-Fetch-Site) and which name led to the server (Host),
// and it asks before it sends JSON to another origin, a question that this server does not answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::wire {

// Headers of a request, empty if it has none of this name.
struct HttpHeaders {
  std::string host, origin, fetch_site, content_type;
};

// The names by which clients may call the server, besides addresses and localhost: the machine's,
// and the one that it listens on.
std::vector<std::string> own_names(const std::string& listens_on);

// Is the Host header, which may end in a port, an address, localhost or one of `names`?
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

// Why the request is refused. `any_host`: it is authenticated, which no rebinding page can be.
struct HttpRefusal {
  int status;
  std::string message;
};
std::optional<HttpRefusal> refusal_of(const HttpHeaders& headers, bool has_body, bool any_host,
                                      const std::vector<std::string>& names);

}  // namespace cupel::wire
