#include "libcore/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace infini {
namespace {

// How many of the smallest and how many of the largest of the n(n+1)/2 means lie outside of the interval: the largest k with P(W < k) <= tail, where W is
// the sum of those ranks 1..n whose fair coin fell on heads.
std::size_t means_outside(std::size_t n, double tail) {
  std::size_t most = n * (n + 1) / 2;
  std::vector<double> probability(most + 1, 0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t sum = most + 1; sum-- > 0;) {
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
    }
  }
  double below = 0;
  std::size_t outside = 0;
  while (outside <= most && below + probability[outside] <= tail) below += probability[outside++];
  return outside;
}

}  // namespace

double percentile(std::vector<double> numbers, double percent) {
  std::sort(numbers.begin(), numbers.end());
  double position = percent / 100 * static_cast<double>(numbers.size() - 1);
  auto below = static_cast<std::size_t>(position);
  std::size_t above = std::min(below + 1, numbers.size() - 1);
  return numbers[below] + (position - static_cast<double>(below)) * (numbers[above] - numbers[below]);
}

double median(std::vector<double> numbers) { return percentile(std::move(numbers), 50); }

double mean(std::span<const double> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size()); }

double deviation(std::span<const double> numbers) {
  double centre = mean(numbers), sum = 0;
  for (double number : numbers) sum += (number - centre) * (number - centre);
  return std::sqrt(sum / static_cast<double>(numbers.size()));
}

Interval signed_rank_interval(std::span<const double> numbers, double confidence) {
  std::vector<double> means;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) means.push_back((numbers[i] + numbers[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  double centre = median(means);
  std::size_t outside = means_outside(numbers.size(), (1 - confidence) / 2);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (outside == 0) return {-infinity, centre, infinity};
  return {means[outside - 1], centre, means[means.size() - outside]};
}

}  // namespace infini
