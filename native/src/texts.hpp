// The texts of a file, each once, and what is to be known of one before it is believed.
#pragma once

#include <array>
#include <string_view>

#include "numbers.hpp"

namespace raf {

// The words of the format have the same numbers in every file.
enum Word : std::uint32_t {
    // Of an entry: what makes the kind of a call.
    profiling_name, process_group, frames, input_sizes, output_sizes, input_dtypes, output_dtypes, state, retired,
    is_p2p, timeout_ms, thread_id, thread_name, pg_id,
    // Of an entry: counters and times, in the order of the columns; `seq_id` is the older name of the second.
    record_id, collective_seq_id, p2p_seq_id, op_id, time_created_ns, time_discovered_started_ns,
    time_discovered_completed_ns, seq_id, duration_ms,
    entry_words,
    // Of a frame.
    name = entry_words, filename, line,
    // States.
    scheduled, started, completed,
    // Of a dump.
    entries, version, comm_lib_version, nccl_version, pg_config, pg_status,
    words
};

inline constexpr std::array<std::string_view, words> word_texts = {
    "profiling_name", "process_group", "frames", "input_sizes", "output_sizes", "input_dtypes", "output_dtypes",
    "state", "retired", "is_p2p", "timeout_ms", "thread_id", "thread_name", "pg_id",
    "record_id", "collective_seq_id", "p2p_seq_id", "op_id", "time_created_ns", "time_discovered_started_ns",
    "time_discovered_completed_ns", "seq_id", "duration_ms",
    "name", "filename", "line",
    "scheduled", "started", "completed",
    "entries", "version", "comm_lib_version", "nccl_version", "pg_config", "pg_status",
};

class Texts {
  public:
    void clear();
    std::string_view operator[](std::uint32_t text) const { return numbers_[text]; }
    // The number of a text from the file. Not mine where it is no UTF-8.
    std::uint32_t of(std::string_view bytes);
    // A text that goes into a table. Not mine where Python's reader would refuse or mend it; where that depends on
    // what Unicode says of its letters, it is put to `doubtful`, and Python decides.
    void use(std::uint32_t text);
    const std::vector<std::uint32_t>& doubtful() const { return doubtful_; }

  private:
    enum class Letters : std::uint8_t { plain, wide, control };
    static Letters letters(std::string_view bytes);

    Numbers numbers_;
    std::vector<Letters> letters_;
    std::vector<bool> used_;
    std::vector<std::uint32_t> doubtful_;
};

}  // namespace raf
