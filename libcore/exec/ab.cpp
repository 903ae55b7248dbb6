#include "libcore/exec/ab.h"

#include <algorithm>
#include <cmath>

#include "libcore/tensor/random.h"

namespace infini {
namespace {

constexpr double block_seconds = 0.05;    // short enough to share what disturbs the machine, long enough for the caches to be the block's own
// Measured ones. A run longer than a block stands alone: what disturbs a machine for a second meets both sides then (bert_base_128, 230 ms a run: half the
// standard error of blocks of three).
constexpr double fewest_runs_per_block = 1, most_runs_per_block = 64;
constexpr std::size_t fewest_blocks = 4, fewest_runs = 12;  // of a round

// One number per round from `numbers`, one per round.
double later_by_earlier(const std::vector<double>& numbers) {
  std::size_t third = std::max<std::size_t>(1, numbers.size() / 3);
  auto part = [&](std::size_t begin) { return median({numbers.begin() + static_cast<std::ptrdiff_t>(begin), numbers.begin() + static_cast<std::ptrdiff_t>(begin + third)}); };
  return part(numbers.size() - third) / part(0) - 1;
}

class Measurement {
 public:
  Measurement(const AbSubject& subject, const AbOptions& options) : subject_(subject), options_(options), random_(options.seed, "it-bench ab") {}

  // As many rounds as fit with the fewest runs each, and then as many blocks as fit.
  Result<AbResult> take() {
    double begin = options_.now();
    std::size_t rounds = ab_fewest_rounds;
    std::vector<double> logs, levels;
    for (std::size_t round = 0; round < rounds; ++round) {
      blocks_.clear();
      first_ = coin() ? 1 : 0;
      double round_begin = options_.now();
      IT_TRY_VOID(subject_.prepare(first_to_prepare(round)));
      if (round == 0) IT_TRY_VOID(choose_block());
      while (blocks_.size() * runs_ < fewest_runs || blocks_.size() < fewest_blocks) IT_TRY_VOID(two_blocks());
      if (round == 0) {
        double affordable = options_.seconds / std::max(options_.now() - round_begin, 1e-9);
        rounds = static_cast<std::size_t>(std::clamp(affordable, double{ab_fewest_rounds}, double{ab_most_rounds}));
      }
      IT_TRY_VOID(more_blocks(begin + options_.seconds * static_cast<double>(round + 1) / static_cast<double>(rounds)));
      logs.push_back(change());
      levels.push_back(level());
    }
    return conclude(logs, levels);
  }

 private:
  bool coin() { return random_.below(2, drawn_++) == 1; }

  // Of two rounds, each side is first in one.
  std::size_t first_to_prepare(std::size_t round) {
    if (round % 2 == 0) first_of_two_ = coin() ? 1 : 0;
    return round % 2 == 0 ? first_of_two_ : 1 - first_of_two_;
  }

  Result<double> timed(std::size_t side) {
    double begin = options_.now();
    IT_TRY_VOID(subject_.run(side));
    return options_.now() - begin;
  }

  Status choose_block() {
    double slower = 0;
    for (std::size_t side : {0u, 1u}) {
      IT_TRY(double seconds, timed(side));
      slower = std::max(slower, seconds);
    }
    warm_up_ = slower < block_seconds;
    runs_ = static_cast<std::size_t>(std::clamp(std::ceil(block_seconds / std::max(slower, 1e-9)), fewest_runs_per_block, most_runs_per_block));
    return {};
  }

  // The times of a block's runs, in seconds. The first finds the caches full of the other side's data; it is not measured, unless runs are so long that
  // it hardly matters.
  Result<std::vector<double>> block(std::size_t side) {
    if (warm_up_) IT_TRY_VOID(subject_.run(side));
    std::vector<double> times;
    for (std::size_t i = 0; i < runs_; ++i) {
      IT_TRY(double seconds, timed(side));
      times.push_back(seconds);
      result_.times_ms[side].push_back(1000 * seconds);
    }
    return times;
  }

  // One more block of each side.
  Status two_blocks() {
    for (std::size_t side : {first_, 1 - first_}) {
      IT_TRY(std::vector<double> times, block(side));
      blocks_.push_back(std::move(times));
    }
    return {};
  }

  // log(B / A) of the runs of neighbouring blocks, the median of A B and that of B A, by half. Each block comes after one of the other side, so what a
  // switch costs meets all alike, and a drift makes the one larger and the other smaller.
  double change() const {
    std::array<std::vector<double>, 2> logs;
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) {
      std::size_t before = b % 2 == 0 ? first_ : 1 - first_;
      for (std::size_t i = 0; i < runs_; ++i) logs[before].push_back((before == 0 ? 1 : -1) * std::log(blocks_[b + 1][i] / blocks_[b][i]));
    }
    return (median(logs[0]) + median(logs[1])) / 2;
  }

  // The time of an A and a B.
  double level() const {
    std::vector<double> sums;
    for (std::size_t b = 0; b + 1 < blocks_.size(); b += 2) {
      for (std::size_t i = 0; i < runs_; ++i) sums.push_back(blocks_[b][i] + blocks_[b + 1][i]);
    }
    return median(sums);
  }

  Status more_blocks(double deadline) {
    double took = 0;
    while (options_.now() + took / 2 < deadline) {
      double begin = options_.now();
      IT_TRY_VOID(two_blocks());
      took = options_.now() - begin;
    }
    return {};
  }

  AbResult conclude(const std::vector<double>& logs, const std::vector<double>& levels) {
    Interval interval = signed_rank_interval(logs, ab_confidence);
    for (double log : logs) result_.rounds.push_back(std::expm1(log));
    result_.change = {std::expm1(interval.low), std::expm1(interval.centre), std::expm1(interval.high)};
    result_.drift = later_by_earlier(levels);
    if (result_.change.high < -ab_smallest_named) result_.verdict = AbVerdict::faster;
    if (result_.change.low > ab_smallest_named) result_.verdict = AbVerdict::slower;
    return std::move(result_);
  }

  const AbSubject& subject_;
  const AbOptions& options_;
  RandomNumbers random_;
  std::uint64_t drawn_ = 0;
  std::size_t first_of_two_ = 0;
  std::size_t runs_ = 1;               // measured ones of a block
  bool warm_up_ = true;
  std::size_t first_ = 0;              // side of the first block of the round at hand
  std::vector<std::vector<double>> blocks_;  // its blocks, sides in turn: the seconds of their runs
  AbResult result_;
};

}  // namespace

Result<AbResult> measure_ab(const AbSubject& subject, const AbOptions& options) { return Measurement(subject, options).take(); }

}  // namespace infini
