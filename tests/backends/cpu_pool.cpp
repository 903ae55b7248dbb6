// The thread pool of the CPU backend.
#include <atomic>
#include <new>

#include <doctest/doctest.h>

#include "backends/cpu/pool.h"

using infini::cpu::Pool;

TEST_CASE("cpu: what a body throws comes out of run, and the pool goes on working") {
  Pool pool(4);
  for (std::int64_t thrower : {0, 1, 63, 99}) {
    CHECK_THROWS_AS(pool.run(100, [thrower](std::int64_t chunk, int) { if (chunk == thrower) throw std::bad_alloc(); }), std::bad_alloc);
    std::atomic<std::int64_t> sum{0};
    pool.run(100, [&sum](std::int64_t chunk, int) { sum += chunk; });
    CHECK(sum == 4950);
  }
}

TEST_CASE("cpu: all bodies throw, one exception comes out") {
  Pool pool(4);
  CHECK_THROWS_AS(pool.run(1000, [](std::int64_t, int) { throw std::bad_alloc(); }), std::bad_alloc);
}
