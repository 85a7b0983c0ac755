// MessagePack, as the analyser's own encoder writes it: each number in the fewest bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace raf {

class Packing {
  public:
    std::string bytes;

    void nothing() { byte(0xC0); }
    void boolean(bool value) { byte(value ? 0xC3 : 0xC2); }
    void integer(std::int64_t value) {
        if (value >= 0)
            return natural(static_cast<std::uint64_t>(value));
        const auto raw = static_cast<std::uint64_t>(value);
        if (value >= -32)
            byte(static_cast<unsigned>(raw & 0xFF));
        else if (value >= INT8_MIN)
            wide(0xD0, raw, 1);
        else if (value >= INT16_MIN)
            wide(0xD1, raw, 2);
        else if (value >= INT32_MIN)
            wide(0xD2, raw, 4);
        else
            wide(0xD3, raw, 8);
    }
    void text(std::string_view value) {
        const std::size_t size = value.size();
        if (size < 32)
            byte(0xA0 | static_cast<unsigned>(size));
        else if (size <= UINT8_MAX)
            wide(0xD9, size, 1);
        else
            size <= UINT16_MAX ? wide(0xDA, size, 2) : wide(0xDB, size, 4);
        bytes += value;
    }
    void raw(std::string_view value) {
        const std::size_t size = value.size();
        if (size <= UINT8_MAX)
            wide(0xC4, size, 1);
        else
            size <= UINT16_MAX ? wide(0xC5, size, 2) : wide(0xC6, size, 4);
        bytes += value;
    }
    void real(double value) { wide(0xCB, std::bit_cast<std::uint64_t>(value), 8); }
    void map(std::size_t size) {
        if (size < 16)
            byte(0x80 | static_cast<unsigned>(size));
        else
            size <= UINT16_MAX ? wide(0xDE, size, 2) : wide(0xDF, size, 4);
    }
    void array(std::size_t size) {
        if (size < 16)
            byte(0x90 | static_cast<unsigned>(size));
        else
            size <= UINT16_MAX ? wide(0xDC, size, 2) : wide(0xDD, size, 4);
    }

  private:
    void byte(unsigned value) { bytes += static_cast<char>(value); }
    void wide(unsigned what, std::uint64_t value, int size) {
        byte(what);
        for (int at = 8 * (size - 1); at >= 0; at -= 8)
            byte(static_cast<unsigned>(value >> at & 0xFF));
    }
    void natural(std::uint64_t value) {
        if (value < 128)
            byte(static_cast<unsigned>(value));
        else if (value <= UINT8_MAX)
            wide(0xCC, value, 1);
        else if (value <= UINT16_MAX)
            wide(0xCD, value, 2);
        else if (value <= UINT32_MAX)
            wide(0xCE, value, 4);
        else
            wide(0xCF, value, 8);
    }
};

}  // namespace raf
