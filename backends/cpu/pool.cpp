#include "backends/cpu/pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace infini::cpu {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

constexpr int spins = 3000;  // 50 to 200 microseconds: longer than the gap between two kernels of a model

}  // namespace

Pool::Pool(int threads) {
  for (int thread = 1; thread < threads; ++thread) {
    try {
      helpers_.emplace_back([this, thread] { help(thread); });
    } catch (const std::system_error&) {
      break;
    }
  }
}

Pool::~Pool() {
  stop_ = true;
  bell_.fetch_add(1);
  bell_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Pool::run_all(std::int64_t chunks, Call call, void* body) {
  if (helpers_.empty() || chunks <= 1) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) call(body, chunk, 0);
    return;
  }
  call_ = call;
  body_ = body;
  chunks_ = chunks;
  next_.store(0, std::memory_order_relaxed);
  state_.fetch_add(one_round + open, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) > 0) {
    bell_.fetch_add(1, std::memory_order_seq_cst);
    bell_.notify_all();
  }
  work(0);
  std::uint64_t state = state_.fetch_sub(open, std::memory_order_acq_rel);
  for (int spin = 0; (state & joined) != 0; ++spin) {
    if (spin < spins) pause();
    else std::this_thread::yield();
    state = state_.load(std::memory_order_acquire);
  }
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Pool::work(int thread) {
  try {
    for (;;) {
      std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks_) return;
      call_(body_, chunk, thread);
    }
  } catch (...) {
    if (!failed_.exchange(true)) failure_ = std::current_exception();
    next_.store(chunks_, std::memory_order_relaxed);
  }
}

// Joins a round that is open and was not seen before.
bool Pool::join(std::uint64_t& seen) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  while ((state & open) != 0 && state / one_round != seen) {
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    seen = state / one_round;
    return true;
  }
  return false;
}

// Until the bell rings; not if a round that was not seen is open.
void Pool::sleep(std::uint64_t seen) {
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  std::uint32_t bell = bell_.load(std::memory_order_seq_cst);
  std::uint64_t state = state_.load(std::memory_order_seq_cst);
  bool work_waits = (state & open) != 0 && state / one_round != seen;
  if (!work_waits && !stop_) bell_.wait(bell, std::memory_order_seq_cst);
  asleep_.fetch_sub(1, std::memory_order_seq_cst);
}

void Pool::help(int thread) {
  std::uint64_t seen = 0;
  for (int spin = 0; !stop_;) {
    if (join(seen)) {
      work(thread);
      state_.fetch_sub(1, std::memory_order_release);
      spin = 0;
    } else if (++spin < spins) {
      pause();
    } else {
      sleep(seen);
      spin = 0;
    }
  }
}

}  // namespace infini::cpu
