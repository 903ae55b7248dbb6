#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "libcore/base/text.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

using enum Finding::Verdict;

constexpr std::uint64_t mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;

// Those that kernels of ours or of others are written for, by the names of /proc/cpuinfo.
constexpr std::array features = {"sse4_2",   "avx",      "avx2",        "fma",         "f16c",        "avx_vnni", "avx512f",  "avx512bw",
                                 "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8",
                                 "asimd",    "asimdhp",  "asimddp",     "bf16",        "i8mm",        "sve",      "sve2"};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What stands behind `key` in a file of "key : value" lines.
std::string field(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::size_t colon = line.find(':');
    if (colon != std::string::npos && trim(std::string_view(line).substr(0, colon)) == key)
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

// In a bare chroot there is none.
bool has_proc() { return access("/proc/meminfo", R_OK) == 0; }

// Bytes of a line of /proc/meminfo.
std::uint64_t memory_field(std::string_view key) { return std::strtoull(field("/proc/meminfo", key).c_str(), nullptr, 10) << 10; }

// The files of that name in this process's control group and in all above it: of version 2, else of a controller of version 1.
std::vector<std::string> group_files(std::string_view controller, std::string_view file) {
  std::vector<std::string> found;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::vector<std::string> parts = infini::split(line, ':');
    if (parts.size() < 3) continue;
    std::vector<std::string> names = infini::split(parts[1], ',');
    bool second = parts[1].empty(), ours = std::find(names.begin(), names.end(), controller) != names.end();
    if (!second && !ours) continue;
    std::string root = second ? "/sys/fs/cgroup" : text("/sys/fs/cgroup/", controller), path = parts[2];
    for (;;) {
      std::string name = text(root, path == "/" ? "" : path, "/", file);
      if (access(name.c_str(), R_OK) == 0) found.push_back(name);
      if (path.empty() || path == "/") break;
      path.resize(path.rfind('/'));
    }
  }
  return found;
}

// Processors' worth of time that the control group allows; none: no limit.
std::optional<double> group_processors() {
  std::optional<double> least;
  auto take = [&](double quota, double period) {
    if (quota > 0 && period > 0) least = std::min(least.value_or(quota / period), quota / period);
  };
  for (const std::string& file : group_files("cpu", "cpu.max")) {
    std::istringstream words(first_line(file));
    double quota = 0, period = 0;
    if (words >> quota >> period) take(quota, period);  // "max 100000": no limit
  }
  for (const std::string& file : group_files("cpu", "cpu.cfs_quota_us")) {
    std::string period = file.substr(0, file.rfind('/')) + "/cpu.cfs_period_us";
    take(std::strtod(first_line(file).c_str(), nullptr), std::strtod(first_line(period).c_str(), nullptr));
  }
  return least;
}

// Bytes that the control group allows; none: no limit.
std::optional<std::uint64_t> group_memory() {
  std::optional<std::uint64_t> least;
  for (std::string_view name : {"memory.max", "memory.limit_in_bytes"}) {
    for (const std::string& file : group_files("memory", name)) {
      std::uint64_t bytes = std::strtoull(first_line(file).c_str(), nullptr, 10);  // "max": no limit
      if (bytes > 0 && bytes < (std::uint64_t{1} << 60)) least = std::min(least.value_or(bytes), bytes);
    }
  }
  return least;
}

void look_at_processor(Environment& out) {
  std::string model = field("/proc/cpuinfo", "model name");
  if (model.empty()) model = "unknown processor";
  std::vector<std::string> flags = infini::split(field("/proc/cpuinfo", "flags") + field("/proc/cpuinfo", "Features"), ' '), has;
  std::copy_if(features.begin(), features.end(), std::back_inserter(has),
               [&](std::string_view name) { return std::find(flags.begin(), flags.end(), name) != flags.end(); });
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t set;
  int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(online);
  std::optional<double> allowed = group_processors();
  out.facts["cpu.model"] = model;
  out.facts["cpu.features"] = join(has, " ");
  out.facts["cpu.cores"] = text(online);
  out.facts["cpu.cores_usable"] = text(usable);
  out.facts["cpu.cores_allowed"] = allowed ? text(*allowed) : "all";
  out.findings.push_back({ok, "processor", text(model, "; ", has.empty() ? "no feature known that kernels are written for" : join(has, " "))});
  Finding cores{ok, "cores", text(usable, " of ", online, " may be used")};
  if (allowed) cores.detail += text("; the control group allows the time of ", *allowed);
  if (allowed && *allowed < usable) {
    cores.verdict = warn;
    cores.cure = text("--threads ", std::max(1, static_cast<int>(*allowed)), ", or a higher cpu.max for the container");
  }
  out.findings.push_back(std::move(cores));
}

void look_at_memory(Environment& out) {
  std::uint64_t total = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
                free = memory_field("MemAvailable");
  std::optional<std::uint64_t> allowed = group_memory();
  out.facts["memory.total"] = human_bytes(total);
  out.facts["memory.allowed"] = allowed && *allowed < total ? human_bytes(*allowed) : "all";
  std::uint64_t usable = std::min({free ? free : total, allowed.value_or(total)});
  Finding memory{ok, "memory", text(human_bytes(total), ", ", free ? text(human_bytes(free), " available") : "available: unknown")};
  if (allowed && *allowed < total) memory.detail += text("; the control group allows ", human_bytes(*allowed));
  if (usable < gib) memory.verdict = warn, memory.cure = "end other programs, or give the machine or container 1 GiB or more";
  out.findings.push_back(std::move(memory));
  std::uint64_t swap = memory_field("SwapTotal");
  out.findings.push_back({ok, "swap",
                          swap         ? text(human_bytes(swap), ", ", human_bytes(memory_field("SwapFree")), " free")
                          : has_proc() ? "none"
                                       : "unknown"});
}

void look_at_pages(Environment& out) {
  std::string modes = first_line("/sys/kernel/mm/transparent_hugepage/enabled"), mode = "unknown";
  std::size_t open = modes.find('['), close = modes.find(']');
  if (open != std::string::npos && close != std::string::npos) mode = modes.substr(open + 1, close - open - 1);
  std::string reserved = field("/proc/meminfo", "HugePages_Total");
  if (reserved.empty()) reserved = "unknown";
  out.facts["pages.transparent"] = mode;
  out.facts["pages.reserved"] = reserved;
  Finding pages{ok, "huge pages", text("transparent: ", mode, "; reserved: ", reserved)};
  if (mode == "never") {
    pages.verdict = warn;
    pages.detail += "; large buffers stay in small pages, which is slower";
    pages.cure = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled";
  }
  out.findings.push_back(std::move(pages));
}

struct Limit {
  decltype(RLIMIT_NOFILE) resource;
  std::string_view key, subject, flag;
  std::uint64_t unit;   // of the shell's ulimit
  std::uint64_t least;  // in that unit; less is a warning
  std::string_view why;
};
constexpr std::array limits = {
    Limit{RLIMIT_NOFILE, "limit.open_files", "open files", "-n", 1, 256, "a model may have hundreds of weight files"},
    Limit{RLIMIT_MEMLOCK, "limit.locked_memory_kib", "locked memory", "-l", 1024, 0, ""},
    Limit{RLIMIT_AS, "limit.address_space_kib", "address space", "-v", 1024, 16 * mib,
          "weights are mapped, so it must hold the model and the program"},
    Limit{RLIMIT_FSIZE, "limit.file_size_kib", "file size", "-f", 1024, 16 * mib, "a saved graph is one file with its weights"},
};

void look_at_limits(Environment& out) {
  for (const Limit& limit : limits) {
    rlimit found{};
    getrlimit(limit.resource, &found);
    bool unlimited = found.rlim_cur == RLIM_INFINITY;
    std::uint64_t value = found.rlim_cur / limit.unit;
    out.facts[std::string(limit.key)] = unlimited ? "unlimited" : text(value);
    Finding finding{ok, std::string(limit.subject), unlimited ? "no limit" : text("limit ", value, limit.unit == 1024 ? " KiB" : "")};
    if (!unlimited && value < limit.least) {
      finding.verdict = warn;
      finding.detail += text("; ", limit.why);
      finding.cure = text("ulimit ", limit.flag, " ",
                          found.rlim_max == RLIM_INFINITY ? limit.flag == "-n" ? "1024" : "unlimited" : text(found.rlim_max / limit.unit));
    }
    out.findings.push_back(std::move(finding));
  }
}

void look_at_disk(Environment& out) {
  struct statvfs facts {};
  if (statvfs(".", &facts) != 0) {
    out.findings.push_back({warn, "disk", "the current folder cannot be asked", "cd to a folder that is there"});
  } else {
    std::uint64_t free = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
    Finding disk{ok, "disk", text(human_bytes(free), " free in the current folder")};
    if (free < 256 * mib) disk.verdict = warn, disk.cure = "make room, or work in another folder: embedding a model needs its size";
    out.findings.push_back(std::move(disk));
  }
  const char* given = std::getenv("TMPDIR");
  std::string folder = given && *given ? given : "/tmp", name = folder + "/it-check-XXXXXX";
  int file = mkstemp(name.data());
  if (file < 0) {
    out.findings.push_back(
        {warn, "temporary folder", text(folder, " takes no file"), "TMPDIR=FOLDER in the environment, with a folder that can be written"});
    return;
  }
  close(file);
  unlink(name.c_str());
  out.findings.push_back({ok, "temporary folder", text(folder, " can be written")});
}

}  // namespace

void look_at_machine(Environment& out) {
  if (!has_proc()) {
    out.findings.push_back(
        {warn, "/proc", "is not mounted: the processor's features, the memory that is in use and the swap are unknown", "mount -t proc proc /proc"});
  }
  look_at_processor(out);
  look_at_memory(out);
  look_at_pages(out);
  look_at_limits(out);
  look_at_disk(out);
}

}  // namespace infini::cli
