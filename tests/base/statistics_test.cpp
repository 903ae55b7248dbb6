// Order statistics and intervals, against a published example and against probabilities counted out one by one.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/statistics.h"

namespace infini::tests {

TEST_CASE("statistics: of one number and of several") {
  CHECK(percentile({7}, 99) == 7);
  CHECK(percentile({3, 1, 2}, 0) == 1);
  CHECK(percentile({3, 1, 2}, 100) == 3);
  CHECK(percentile({10, 20, 30, 40, 50}, 90) == doctest::Approx(46));  // numpy.percentile
  CHECK(median({4, 1, 3, 2}) == 2.5);
  std::vector<double> numbers = {2, 4, 4, 4, 5, 5, 7, 9};
  CHECK(mean(numbers) == 5);
  CHECK(deviation(numbers) == 2);
}

TEST_CASE("statistics: the signed-rank interval of Hollander and Wolfe's example 3.1") {
  // Hamilton depression scale factor, before and after; the book gives the estimate -0.46 and the 96.1 % interval (-0.786, -0.010).
  std::vector<double> before = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}, after = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> change;
  for (std::size_t i = 0; i < before.size(); ++i) change.push_back(after[i] - before[i]);
  Interval found = signed_rank_interval(change, 0.95);
  CHECK(found.centre == doctest::Approx(-0.46));
  CHECK(found.low == doctest::Approx(-0.786));
  CHECK(found.high == doctest::Approx(-0.010));
}

// Magnitudes 1, 2, 4, ... have means that are all different. Of the 2^n ways to give them signs, the interval may miss 0 in a share of 1 - confidence.
TEST_CASE("statistics: the interval misses the truth as seldom as it says, and not much more seldom") {
  for (unsigned n = 6; n <= 11; ++n) {
    for (double confidence : {0.9, 0.95}) {
      unsigned missed = 0;
      for (unsigned signs = 0; signs < 1u << n; ++signs) {
        std::vector<double> numbers;
        for (unsigned i = 0; i < n; ++i) numbers.push_back((signs >> i & 1 ? 1 : -1) * std::exp2(i));
        Interval found = signed_rank_interval(numbers, confidence);
        missed += found.low > 0 || found.high < 0 ? 1 : 0;
      }
      double share = missed / std::exp2(n);
      CHECK(share <= 1 - confidence);
      CHECK(share > (1 - confidence) / 2);
    }
  }
}

TEST_CASE("statistics: too few numbers say nothing, and a far one does not move the rest") {
  CHECK(std::isinf(signed_rank_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.95).low));
  CHECK(signed_rank_interval(std::vector<double>{1, 2, 3, 4, 5, 6}, 0.95).low == 1);
  CHECK(signed_rank_interval(std::vector<double>{1, 2, 3, 4, 5, 6}, 0.95).high == 6);
  std::vector<double> calm = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1e9};
  CHECK(signed_rank_interval(calm, 0.95).high < 12);
}

}  // namespace infini::tests
