// The calls of a dump as columns. Most entries differ from an earlier one in a few numbers only.
//
// Of an entry that gives nothing a place in the memo, its bytes are kept as a form: with every counter and time left
// open. What has the same bytes but for those means the same, as what a place of the memo holds never changes here;
// so its numbers are taken from where they stand. Everything else is taken apart.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "interner.hpp"

namespace raf {

constexpr std::size_t columns = 7;
constexpr std::int64_t null = INT64_MIN;
// Forms that are tried after another.
constexpr std::uint32_t most_guesses = 6;

class Calls {
  public:
    Calls(Texts& texts, Heap& heap) : interner(texts, heap), heap_(heap) {}
    void clear(std::size_t file_size);

    // The end of the entry that begins at `at`, if it has one of the forms that were seen next before; else null.
    const std::uint8_t* by_form(const std::uint8_t* at, const std::uint8_t* end);
    // An entry that was taken apart. `plain`: its bytes, which give nothing a place, may be the form of others.
    void add(Value entry, const std::uint8_t* begin, const std::uint8_t* end, bool plain, const std::uint8_t* file);
    // After the last one.
    void finish() const;

    std::size_t count() const { return kinds.size(); }
    bool has(Word word) const { return (present_ >> word & 1) != 0; }

    Interner interner;
    std::vector<std::uint32_t> kinds;
    std::array<std::vector<std::int64_t>, columns> integers;
    std::vector<double> durations;
    bool timed = false;

  private:
    struct Gap {
        std::uint32_t before, length;  // fixed bytes before the number, and those of the number itself
        std::uint32_t column;          // `columns` for a duration
    };
    struct Form {
        const std::uint8_t* bytes;
        std::uint32_t length, tail, kind, containers;
        bool timed;
        std::uint32_t gap_begin, gap_count;
        std::array<std::uint32_t, most_guesses> next;
        std::uint32_t next_count;
    };

    const std::uint8_t* matched(const Form& form, const std::uint8_t* at, const std::uint8_t* end);
    Value of_column(std::size_t column) const;
    void keep_form(const std::uint8_t* begin, const std::uint8_t* end, const std::uint8_t* file, std::uint32_t kind);
    void follow(std::uint32_t form);
    void push(std::uint32_t kind, bool has_duration);

    Heap& heap_;
    Fields fields_{};
    std::uint32_t present_ = 0;
    std::vector<std::uint32_t> unknown_, others_;
    std::array<std::int64_t, columns> row_{};
    double duration_ = 0;
    std::vector<Gap> gaps_;
    std::vector<Form> forms_;
    std::vector<std::uint32_t> form_of_kind_;  // two of each kind: with and without a duration
    std::uint32_t last_ = UINT32_MAX;
    std::uint64_t entry_containers_ = 0;

  public:
    // Containers made before the entry that is taken apart.
    void begins() { entry_containers_ = heap_.made; }
};

}  // namespace raf
