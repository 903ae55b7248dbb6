#include <algorithm>

#include "libcore/exec/plan.h"

namespace infini {
namespace {

constexpr std::size_t alignment = 64;

// An empty tensor has an address as well: devices check what they are given.
std::size_t aligned(std::size_t bytes) { return (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment; }

// One stretch of memory, needed from step `first` to step `last`.
struct Block {
  int device;
  std::size_t bytes, first, last;
  std::size_t* offset;
};

std::vector<Block> blocks_of(Plan& plan) {
  std::vector<std::size_t> first(plan.places.size(), SIZE_MAX), last(plan.places.size(), 0);
  std::vector<Block> blocks;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    Step& step = plan.steps[s];
    for (const std::vector<int>* side : {&step.inputs, &step.outputs}) {
      for (int place : *side) {
        auto root = static_cast<std::size_t>(root_of(plan, place));
        first[root] = std::min(first[root], s);
        last[root] = std::max(last[root], s);
      }
    }
    if (step.workspace > 0) blocks.push_back({step.device, aligned(step.workspace), s, s, &step.workspace_offset});
  }
  for (std::size_t p = 0; p < plan.places.size(); ++p) {
    Place& place = plan.places[p];
    if (place.alias >= 0 || place.kind != Place::Kind::arena || first[p] == SIZE_MAX) continue;
    blocks.push_back({place.device, aligned(place.bytes), first[p], last[p], &place.offset});
  }
  return blocks;
}

// The lowest gap that fits among blocks already placed that live at the same time.
std::size_t lowest_gap(const Block& block, std::span<const Block* const> placed) {
  std::vector<const Block*> busy;
  for (const Block* other : placed) {
    if (other->device == block.device && other->first <= block.last && block.first <= other->last) busy.push_back(other);
  }
  std::sort(busy.begin(), busy.end(), [](const Block* a, const Block* b) { return *a->offset < *b->offset; });
  std::size_t at = 0;
  for (const Block* other : busy) {
    if (*other->offset >= at + block.bytes) break;
    at = std::max(at, *other->offset + other->bytes);
  }
  return at;
}

}  // namespace

int root_of(const Plan& plan, int place) {
  int alias = plan.places[static_cast<std::size_t>(place)].alias;
  return alias >= 0 ? alias : place;
}

void lay_out_arena(Plan& plan, std::size_t device_count) {
  std::vector<Block> blocks = blocks_of(plan);
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  plan.arena_bytes.assign(device_count, 0);
  std::vector<const Block*> placed;
  for (Block& block : blocks) {
    *block.offset = lowest_gap(block, placed);
    std::size_t& total = plan.arena_bytes[static_cast<std::size_t>(block.device)];
    total = std::max(total, *block.offset + block.bytes);
    placed.push_back(&block);
  }
}

}  // namespace infini
