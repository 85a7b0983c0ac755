// What is handed over of one file: nothing that needs Python to be made.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "machine.hpp"

namespace raf {

struct Answer {
    bool mine = false;
    double seconds = 0;
    std::uint64_t calls = 0;
    // The header, and what else is no column, packed: see `Told` of `rankandfile.evidence.flight.native_dumps`.
    std::string told;
    std::string repeats;
    // Kinds, the integer columns and durations.
    std::array<std::vector<char>, columns + 2> blocks;
};

// Throws NotMine.
void answer(const Machine& machine, Answer& found);

}  // namespace raf
