// Redis: one server.
#include "lab/kinds.hpp"
#include "lab/loopback.hpp"
#include "lab/programs.hpp"

namespace cupel::lab {

namespace {

base::Status find_redis() {
  return need(find_program("redis-server"), "program `redis-server`", "redis-server");
}

base::Status initialize_redis(const Site& site) {
  return run_once(site, {"mkdir", site.nodes.front().directory}, site.nodes.front().log);
}

std::vector<std::string> redis_command(const Site& site, const Node& node) {
  std::vector<std::string> command{find_program("redis-server"),
                                   "--port",
                                   std::to_string(node.ports[0]),
                                   "--bind",
                                   node.address,
                                   "--dir",
                                   node.directory,
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "yes",
                                   "--appendfsync",
                                   site.options.durable ? "always" : "no"};
  for (const auto& option : site.options.server_options) {
    const auto equals = option.find('=');
    command.push_back("--" + option.substr(0, equals));
    if (equals != std::string::npos) command.push_back(option.substr(equals + 1));
  }
  return command;
}

bool redis_is_up(const Node& node, std::string_view /*written*/) {
  const auto answer = ask(node, "PING\r\n", base::Seconds(1));
  return answer.rfind("+PONG", 0) == 0 || answer.rfind("-NOAUTH", 0) == 0;
}

}  // namespace

constinit const KindSpec kRedisKind{.kind = Kind::kRedis,
                                    .name = "redis",
                                    .summary = "one Redis server",
                                    .user = "redis",
                                    .url = "redis://HOSTS",
                                    .find_programs = find_redis,
                                    .initialize = initialize_redis,
                                    .command = redis_command,
                                    .is_up = redis_is_up};

}  // namespace cupel::lab
