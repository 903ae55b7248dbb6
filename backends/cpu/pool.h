// The thread pool: helpers spin for a short while after work, then sleep; chunks are claimed one by one from a counter.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace infini::cpu {

class Pool {
 public:
  // threads >= 1, the caller's included. Helpers that the system refuses to start are done without.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  // Calls body(chunk, thread) for every chunk in [0, chunks), thread in [0, threads()), and returns when all are done. What a body throws
  // (no memory, say) comes out here, once, whichever thread it was in; chunks that nobody had claimed by then are left out.
  // Not to be called from inside a body, nor from two threads at once.
  template <class Body>
  void run(std::int64_t chunks, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run_all(chunks, [](void* held, std::int64_t chunk, int thread) { (*static_cast<Plain*>(held))(chunk, thread); },
            const_cast<std::remove_const_t<Plain>*>(&body));
  }

 private:
  using Call = void (*)(void*, std::int64_t, int);
  void run_all(std::int64_t chunks, Call call, void* body);
  void work(int thread);
  void help(int thread);
  bool join(std::uint64_t& seen);
  void sleep(std::uint64_t seen);

  // A round's number in the upper half, then whether it may still be joined, then how many helpers have joined it. The caller waits for
  // those who joined, not for those who never woke up.
  static constexpr std::uint64_t open = 1u << 16, joined = open - 1, one_round = std::uint64_t{1} << 32;

  std::vector<std::thread> helpers_;
  // One round of work: written before the round opens, read by those who joined it.
  Call call_ = nullptr;
  void* body_ = nullptr;
  std::int64_t chunks_ = 0;
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> state_{0};
  alignas(64) std::atomic<std::uint32_t> bell_{0};  // rung when a round opens while somebody sleeps
  std::atomic<int> asleep_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;  // written by whoever set failed_
  std::atomic<bool> stop_{false};
};

}  // namespace infini::cpu
