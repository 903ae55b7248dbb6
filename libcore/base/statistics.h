// Numbers that stand for many: order statistics, and intervals that suppose little about where the numbers come from.
#pragma once

#include <span>
#include <vector>

namespace infini {

// In [0, 100]; between two numbers, in proportion. `numbers` is not empty, here and below.
double percentile(std::vector<double> numbers, double percent);
double median(std::vector<double> numbers);
double mean(std::span<const double> numbers);
// The root of the mean square distance from the mean.
double deviation(std::span<const double> numbers);

struct Interval {
  double low = 0, centre = 0, high = 0;
};

// The centre of a symmetric distribution from independent draws: the Hodges-Lehmann estimate (the median of the means of all pairs, each number with
// itself included), and the interval of all centres that the signed-rank test of Wilcoxon does not refuse, which holds the true one with at least the
// probability `confidence`. Infinite where the draws are too few: six for 0.95. M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods (2nd
// edition, 1999), 3.1-3.3. Of twelve or more draws, one on each side may be anywhere.
Interval signed_rank_interval(std::span<const double> numbers, double confidence);

}  // namespace infini
