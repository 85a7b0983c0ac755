// What a pickle makes: values, and the lists, dicts and tuples that hold them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "numbers.hpp"

namespace raf {

enum class Tag : std::uint8_t { unset, none, no, yes, integer, real, text, list, dict, tuple };

struct Value {
    Tag tag = Tag::unset;
    bool fetched = false;    // from the memo: it was not written where it stands
    std::uint32_t id = 0;    // of a text or container; where a number or nothing is written: its place in the file
    union {
        std::int64_t number = 0;
        double real;
    };

    Value() = default;
    explicit Value(Tag what, std::uint32_t which = 0) : tag(what), id(which) {}
    bool is_container() const { return tag >= Tag::list; }
};

constexpr std::uint32_t unnumbered = UINT32_MAX;

struct Container {
    std::uint32_t begin = 0, count = 0;
    bool done = false;       // it is in another, or was referred to: nothing may be added to it any more
    bool is_entries = false;
    std::uint32_t frame = unnumbered;
};

// All containers of a file; their items lie side by side. What one entry of a recorder has made goes with it.
class Heap {
  public:
    void clear() {
        containers.clear();
        items.clear();
        made = 0;
    }
    std::uint32_t add() {
        containers.emplace_back();
        ++made;
        return static_cast<std::uint32_t>(containers.size() - 1);
    }
    void append(std::uint32_t to, std::span<const Value> more) {
        Container& container = containers[to];
        if (container.begin + container.count != items.size()) {
            // Written in pieces, with others' items between them: each time anew would take for ever.
            require(container.count <= most_moved);
            const std::uint32_t begin = static_cast<std::uint32_t>(items.size());
            items.resize(items.size() + container.count);
            std::copy_n(items.begin() + container.begin, container.count, items.begin() + begin);
            container.begin = begin;
        }
        for (const Value& value : more) {
            if (value.is_container())
                containers[value.id].done = true;
            items.push_back(value);
        }
        container.count += static_cast<std::uint32_t>(more.size());
    }
    std::span<const Value> of(Value value) const {
        const Container& container = containers[value.id];
        return {items.data() + container.begin, container.count};
    }

    std::vector<Container> containers;
    std::vector<Value> items;
    std::uint64_t made = 0;  // containers, those that are gone again too

  private:
    static constexpr std::uint32_t most_moved = 64;
};

}  // namespace raf
