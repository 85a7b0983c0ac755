// Values that repeat, each stored once under a number: the next free one where it is new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace raf {

// The file is not of the regular kind that is read here: Python's reader is asked instead, and says what is wrong.
struct NotMine {};

inline void require(bool holds) {
    if (!holds) [[unlikely]]
        throw NotMine{};
}

std::uint64_t hash_of(std::string_view bytes);

class Numbers {
  public:
    Numbers() { clear(); }
    void clear();
    std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
    std::string_view operator[](std::uint32_t number) const {
        const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
        return {pool_.data() + begin, ends_[number] - begin};
    }
    std::uint32_t of(std::string_view value);

    // Of values that have no bytes but those that say what they are.
    template <class Key> std::uint32_t of_key(const Key& key) {
        static_assert(std::has_unique_object_representations_v<Key>);
        return of({reinterpret_cast<const char*>(&key), sizeof(Key)});
    }
    template <class Key> Key key(std::uint32_t number) const {
        Key found;
        std::memcpy(&found, (*this)[number].data(), sizeof(Key));
        return found;
    }

  private:
    void grow();

    std::vector<char> pool_;
    std::vector<std::size_t> ends_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> slots_;  // number + 1, or 0
};

}  // namespace raf
