// Numbers and comparisons at places of a file. Eight bytes beyond its end can be read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace raf {

static_assert(std::endian::native == std::endian::little, "columns and dumps are little-endian");

constexpr std::size_t padding = 16;

template <class Number> Number little(const std::uint8_t* at) {
    Number number;
    std::memcpy(&number, at, sizeof number);
    return number;
}

// Floats are written big-endian.
inline double real_at(const std::uint8_t* at) {
    return std::bit_cast<double>(__builtin_bswap64(little<std::uint64_t>(at)));
}

inline bool same(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) {
    while (size >= 8) {
        if (little<std::uint64_t>(a) != little<std::uint64_t>(b))
            return false;
        a += 8;
        b += 8;
        size -= 8;
    }
    const std::uint64_t mask = (std::uint64_t{1} << 8 * size) - 1;
    return ((little<std::uint64_t>(a) ^ little<std::uint64_t>(b)) & mask) == 0;
}

// Of one that was read already, so that it is one.
inline std::uint32_t length_of_number(const std::uint8_t* at) {
    switch (*at) {
    case 'K': return 2;
    case 'M': return 3;
    case 'J': return 5;
    case 'G': return 9;
    case 0x8A: return 2u + at[1];
    default: return 1;
    }
}

}  // namespace raf
