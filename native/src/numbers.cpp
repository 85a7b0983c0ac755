#include "numbers.hpp"

#include <random>

namespace raf {

namespace {

// A stranger who knew how values are spread could write many for one place.
const std::uint64_t secret = [] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) ^ device() ^ 0x9E3779B97F4A7C15u;
}();

constexpr std::size_t first_slots = 256;
constexpr int most_steps = 512;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t hash_of(std::string_view bytes) {
    std::uint64_t state = secret ^ (bytes.size() * 0xA0761D6478BD642Fu);
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        state = mixed(state ^ word, 0xE7037ED1A0B428DBu ^ secret);
    }
    std::uint64_t word = 0;
    if (left != 0)
        std::memcpy(&word, at, left);
    return mixed(state ^ word, 0x8EBC6AF09C88C6E3u);
}

void Numbers::clear() {
    pool_.clear();
    ends_.clear();
    hashes_.clear();
    slots_.assign(first_slots, 0);
}

std::uint32_t Numbers::of(std::string_view value) {
    const std::uint64_t hash = hash_of(value);
    std::size_t mask = slots_.size() - 1, slot = hash & mask;
    for (int step = 0; slots_[slot] != 0; slot = (slot + 1) & mask, ++step) {
        const std::uint32_t number = slots_[slot] - 1;
        if (hashes_[number] == hash && (*this)[number] == value)
            return number;
        require(step < most_steps);
    }
    const std::uint32_t number = size();
    require(number < UINT32_MAX - 1);
    pool_.insert(pool_.end(), value.begin(), value.end());
    ends_.push_back(pool_.size());
    hashes_.push_back(hash);
    slots_[slot] = number + 1;
    if (ends_.size() * 2 > slots_.size())
        grow();
    return number;
}

void Numbers::grow() {
    std::vector<std::uint32_t> wider(slots_.size() * 2, 0);
    const std::size_t mask = wider.size() - 1;
    for (std::uint32_t number = 0; number < size(); ++number) {
        std::size_t slot = hashes_[number] & mask;
        while (wider[slot] != 0)
            slot = (slot + 1) & mask;
        wider[slot] = number + 1;
    }
    slots_.swap(wider);
}

}  // namespace raf
