// Shard: see the header.
#include "base/shard.hpp"

#include <charconv>
#include <cstdlib>
#include <vector>

namespace cupel::base {

namespace {

std::optional<std::uint32_t> whole(std::string_view text) {
  std::uint32_t number = 0;
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || number > kMostShards) return std::nullopt;
  return number;
}

Error mistake(std::string message) {
  return Error{.message = std::move(message)};
}

std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// What one scheduler says: a number from 0, and of how many if it knows.
struct Said {
  std::string by;  // its variables, for messages
  std::uint32_t index = 0;
  std::optional<std::uint32_t> of;
};

// Numbers of one scheduler, by their names. A variable that is set to something else is an error.
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  std::optional<std::uint32_t> number(const char* name) {
    const auto text = environment_(name);
    if (!text || text->empty()) return std::nullopt;
    const auto found = whole(*text);
    if (!found && error_.empty()) {
      error_ = "found " + std::string(name) + "=" + *text + ", expected a whole number up to " +
               std::to_string(kMostShards);
    }
    return found;
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  const Environment& environment_;
  std::string error_;
};

// A Slurm array's tasks, numbered MIN, MIN + STEP … MAX. Of an array with gaps, as for those tasks
// that failed before, nobody knows which shards they were.
Result<std::optional<Said>> of_slurm_array(Reader& read) {
  const auto id = read.number("SLURM_ARRAY_TASK_ID");
  if (!id) return std::optional<Said>();
  const auto count = read.number("SLURM_ARRAY_TASK_COUNT"),
             min = read.number("SLURM_ARRAY_TASK_MIN"), max = read.number("SLURM_ARRAY_TASK_MAX");
  const auto step = read.number("SLURM_ARRAY_TASK_STEP").value_or(1);
  if (!count || !min || !max || step == 0 || *count == 0 || *id < *min || *max < *min) {
    return mistake(
        "found SLURM_ARRAY_TASK_ID without a sensible SLURM_ARRAY_TASK_COUNT, _MIN and _MAX; say "
        "I/N instead");
  }
  const bool gaps = (*max - *min) / step + 1 != *count || (*id - *min) % step != 0;
  if (gaps) {
    return mistake(
        "found a Slurm array with gaps, so its tasks do not say which shards they are; submit the "
        "whole array again (tasks that are done end at once), or say I/N");
  }
  return std::optional(Said{"SLURM_ARRAY_TASK_ID", (*id - *min) / step, count});
}

std::optional<Said> of_mpi(Reader& read) {
  for (const auto& [rank_name, size_name] :
       {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        std::pair("PMI_RANK", "PMI_SIZE")}) {
    const auto rank = read.number(rank_name);
    const auto size = read.number(size_name);
    if (rank && size && *size > 0) return Said{rank_name, *rank, size};
  }
  return std::nullopt;
}

// GNU parallel counts from 1.
std::optional<Said> of_parallel(Reader& read) {
  const auto number = read.number("PARALLEL_SEQ");
  if (!number || *number == 0) return std::nullopt;
  return Said{"PARALLEL_SEQ", *number - 1, std::nullopt};
}

std::optional<Said> of_kubernetes(Reader& read) {
  const auto index = read.number("JOB_COMPLETION_INDEX");
  if (!index) return std::nullopt;
  return Said{"JOB_COMPLETION_INDEX", *index, std::nullopt};
}

// Tasks of srun. Only where nobody else says anything: every process of a job of Slurm has these.
std::optional<Said> of_srun(Reader& read) {
  const auto rank = read.number("SLURM_PROCID"), size = read.number("SLURM_NTASKS");
  if (!rank || !size || *size < 2) return std::nullopt;
  return Said{"SLURM_PROCID", *rank, size};
}

Result<Said> ask(const Environment& environment) {
  Reader read(environment);
  std::vector<Said> all;
  auto array = of_slurm_array(read);
  if (!read.error().empty()) return mistake(read.error());
  if (!array.ok()) return array.error();
  for (auto& said : {*array, of_mpi(read), of_parallel(read), of_kubernetes(read)}) {
    if (said) all.push_back(*said);
  }
  if (all.empty()) {
    if (auto said = of_srun(read)) all.push_back(*std::move(said));
  }
  if (!read.error().empty()) return mistake(read.error());
  if (all.size() > 1) {
    return mistake("found both " + all[0].by + " and " + all[1].by +
                   ", so it is not known which of them numbers the shards; say I/N");
  }
  if (all.empty()) {
    return mistake(
        "found no number in the environment, expected the variables of a Slurm array or srun "
        "(SLURM_ARRAY_TASK_ID, SLURM_PROCID), of MPI (OMPI_COMM_WORLD_RANK, PMI_RANK), of an "
        "indexed job of Kubernetes (JOB_COMPLETION_INDEX) or of GNU parallel (PARALLEL_SEQ); say "
        "I/N");
  }
  return all.front();
}

Result<Shard> from_environment(std::optional<std::uint32_t> of, const Environment& environment) {
  const auto said = ask(environment);
  if (!said.ok()) return said.error();
  if (said->of && of && *said->of != *of) {
    return mistake("found auto/" + std::to_string(*of) + ", but " + said->by + " is one of " +
                   std::to_string(*said->of) + "; expected the same");
  }
  const auto all = said->of ? said->of : of;
  if (!all) {
    return mistake("found " + said->by +
                   ", which does not say how many shards there are; say auto/N");
  }
  if (said->index >= *all) {
    return mistake("found " + said->by + ", shard " + std::to_string(said->index + 1) +
                   ", expected at most " + std::to_string(*all));
  }
  return Shard{said->index + 1, *all};
}

}  // namespace

std::string Shard::text() const {
  return std::to_string(number) + "/" + std::to_string(of);
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<Shard> parse_shard(std::string_view text, const Environment& environment) {
  const auto slash = text.find('/');
  const auto first = text.substr(0, slash);
  std::optional<std::uint32_t> of;
  if (slash != std::string_view::npos) {
    of = whole(text.substr(slash + 1));
    if (!of || *of == 0) {
      return mistake("found " + quoted(text) + ", expected I/N, as in 3/32, auto or auto/N");
    }
  }
  if (first == "auto") return from_environment(of, environment);
  const auto number = whole(first);
  if (!number || !of) {
    return mistake("found " + quoted(text) + ", expected I/N, as in 3/32, auto or auto/N");
  }
  if (*number == 0 || *number > *of) {
    return mistake("found " + quoted(text) + ", expected a shard from 1 to " + std::to_string(*of));
  }
  return Shard{*number, *of};
}

}  // namespace cupel::base
