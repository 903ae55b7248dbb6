#include "backends/cpu/pool.h"

#include <algorithm>
#include <system_error>

namespace infini::cpu {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

constexpr int spins = 20000;  // a few hundred microseconds: longer than the gap between two kernels of a model

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
  generation_.fetch_add(1);
  generation_.notify_all();
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
  busy_.store(static_cast<int>(helpers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) > 0) generation_.notify_all();
  work(0);
  for (int spin = 0; busy_.load(std::memory_order_acquire) > 0; ++spin) {
    if (spin < spins) pause();
    else std::this_thread::yield();
  }
}

void Pool::work(int thread) {
  for (;;) {
    std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks_) return;
    call_(body_, chunk, thread);
  }
}

void Pool::help(int thread) {
  std::uint32_t seen = 0;
  for (;;) {
    int spin = 0;
    while (generation_.load(std::memory_order_acquire) == seen) {
      if (++spin < spins) {
        pause();
        continue;
      }
      asleep_.fetch_add(1, std::memory_order_seq_cst);
      generation_.wait(seen, std::memory_order_seq_cst);
      asleep_.fetch_sub(1, std::memory_order_seq_cst);
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stop_) return;
    work(thread);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace infini::cpu
