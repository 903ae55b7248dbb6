// Two ways of doing one thing, measured against each other in interleaved randomised blocks.
//
// The unit of replication is the round. In each, both sides are made anew, since where buffers happen to lie in memory can cost more than what is to be
// measured (T. Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009); then blocks of runs follow, A B A B ... or
// B A B A ..., so that a drift of the machine meets both alike and each block comes after one of the other side. A round gives one number: of log(B's time /
// A's time) over neighbouring blocks' first runs, their second runs, and so on, the median where A came first and that where B did, by half. What is made
// first, and what runs first, is drawn. Were the sides alike, each round's number would therefore be as likely as its opposite, whatever the machine
// does, and that is all that the signed-rank interval over the rounds supposes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/statistics.h"

namespace infini {

// Sides are 0 and 1: A and B.
struct AbSubject {
  std::function<Status(std::size_t first)> prepare;  // makes both anew, `first` first, and runs each once
  std::function<Status(std::size_t side)> run;
};

struct AbOptions {
  double seconds = 50;            // for all of it; more where six rounds take longer
  std::uint64_t seed = 0;         // of the orders that are drawn
  std::function<double()> now;    // seconds on a clock that never goes back
};

enum class AbVerdict : std::uint8_t { no_difference, faster, slower };

// Shares of A's time: -0.031 where B takes 3.1 % less.
struct AbResult {
  std::array<std::vector<double>, 2> times_ms;  // of every measured run
  std::vector<double> rounds;                   // the change of each round
  Interval change;                              // of B's time against A's, 95 %
  double drift = 0;                             // of both sides' times, from the first third of the rounds to the last
  AbVerdict verdict = AbVerdict::no_difference;
};

inline constexpr double ab_confidence = 0.95;
// A difference is named if the interval lies beyond this: two builds of one source may differ by as much.
inline constexpr double ab_smallest_named = 0.005;
inline constexpr std::size_t ab_fewest_rounds = 6, ab_most_rounds = 20;

// Fails where preparing or running does.
Result<AbResult> measure_ab(const AbSubject& subject, const AbOptions& options);

}  // namespace infini
