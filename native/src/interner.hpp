// Which kind each call is: all of it that is neither a counter nor a time, validated and stored once.
//
// The bounds, the defaults and what is refused are those of `rankandfile.evidence.flight.interning` and `entries`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "numbers.hpp"
#include "texts.hpp"
#include "values.hpp"

namespace raf {

// The values of one entry by the words of the format; `unset` where it has none.
using Fields = std::array<Value, entry_words>;

std::int64_t whole(Value value);

class Interner {
  public:
    Interner(Texts& texts, Heap& heap) : texts_(texts), heap_(heap) {}
    // `most`: what taking calls apart may cost, by what is looked at; by reference, a few bytes can ask for much.
    void clear(std::size_t most);
    std::uint32_t kind_of(const Fields& fields);

    // As `Repeats` of the analyser is packed.
    std::string packed() const;

    struct Group {
        std::uint32_t name, desc;
        std::int64_t local;
        std::uint64_t has_local;
    };
    Numbers groups, threads, locals;
    // Of each number that the process has for a group, the group.
    std::vector<std::uint32_t> local_groups;

  private:
    struct Frame {
        std::uint32_t name, file;
        std::int64_t line;
    };
    struct Kind {
        std::uint32_t name, group, thread, shape, stack, state;
        std::uint32_t retired, is_p2p;
        std::int64_t timeout;
        std::uint64_t has_timeout;
    };

    std::uint32_t text(Value value);
    std::uint32_t group(const Fields& fields);
    std::uint32_t thread(const Fields& fields);
    std::uint32_t shape(const Fields& fields);
    std::uint32_t stack(Value value);
    std::uint32_t frame(Value value);
    void spend(std::size_t cost) {
        require(cost <= left_);
        left_ -= cost;
    }
    std::span<const Value> list(Value value, std::size_t most);

    Texts& texts_;
    Heap& heap_;
    Numbers kinds_, shapes_, stacks_, frames_;
    std::vector<bool> of_recorder_;
    std::size_t in_stacks_ = 0, in_sizes_ = 0, left_ = 0;
    std::string label_;
    std::vector<std::uint32_t> numbers_;
};

}  // namespace raf
