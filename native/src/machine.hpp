// A pickle of plain data, walked opcode by opcode: the calls of its entries go to columns as they end.
//
// Only what picklers write of plain data, each thing in its regular place: whatever else stands in the file, it is not
// mine, and Python's reader decides what that is. So nothing here can import, call or build anything.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "texts.hpp"
#include "values.hpp"

namespace raf {

class Machine {
  public:
    Machine() : calls(texts, heap) {}
    // The dump in a file, with `padding` bytes behind it. Throws NotMine.
    void read(std::span<const std::uint8_t> file);

    Texts texts;
    Heap heap;
    Calls calls;
    // All of the outermost dict but the entries.
    std::vector<std::pair<std::uint32_t, Value>> header;

  private:
    void run();
    void step();
    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    bool in_entries() const { return marks_.size() == 2 && entries_at_ != 0 && marks_[1] == entries_at_ + 1; }
    const std::uint8_t* take(std::size_t size);
    template <class Number> Number argument();
    std::size_t pop_mark();
    void push(Value value);
    void push_number(std::int64_t number, const std::uint8_t* at);
    void push_text(std::size_t size);
    void push_container(Tag tag);
    void push_tuple(std::size_t from);
    void hold(Value container, std::size_t from);
    void put(std::uint64_t place);
    void get(std::uint64_t place);
    bool is_entries(Value value) const;
    void set_items(std::size_t first);
    void append_items(std::size_t first);
    void entry_begins();
    void entry_ends(Value entry);
    void frame();

    const std::uint8_t *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr, *frame_end_ = nullptr;
    std::vector<Value> stack_, memo_;
    std::vector<std::size_t> marks_;
    std::size_t entries_at_ = 0;  // where the list of entries is on the stack; 0 before it came
    std::uint64_t most_made_ = 0;
    std::size_t most_held_ = 0;
    std::size_t puts_ = 0;
    const std::uint8_t* entry_ = nullptr;
    bool plain_ = false, keeps_ = false;
    std::size_t entry_items_ = 0, entry_containers_ = 0;
    bool over_ = false;
};

}  // namespace raf
