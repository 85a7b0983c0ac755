#include "answer.hpp"

#include "packing.hpp"

namespace raf {

namespace {

constexpr std::size_t most_bytes = 16 << 20;
constexpr int most_depth = 8;

// The values of the header that the analyser reads.
class HeaderPacking {
  public:
    HeaderPacking(const Machine& machine, Packing& out) : machine_(machine), out_(out) {}

    void pack() {
        std::size_t count = 0;
        for (const auto& [key, value] : machine_.header)
            count += key != entries;
        out_.map(count);
        for (const auto& [key, value] : machine_.header) {
            if (key == entries)
                continue;
            out_.text(machine_.texts[key]);
            if (key > entries && key < words)
                pack(value, 0);
            else
                out_.nothing();
        }
    }

  private:
    void pack(Value value, int depth) {
        // However often a thing is referred to.
        require(depth < most_depth && out_.bytes.size() < most_bytes);
        switch (value.tag) {
        case Tag::none: return out_.nothing();
        case Tag::no: return out_.boolean(false);
        case Tag::yes: return out_.boolean(true);
        case Tag::integer: return out_.integer(value.number);
        case Tag::real: return out_.real(value.real);
        case Tag::text: return out_.text(machine_.texts[value.id]);
        case Tag::list: {
            const auto items = machine_.heap.of(value);
            out_.array(items.size());
            for (const Value& item : items)
                pack(item, depth + 1);
            return;
        }
        case Tag::dict: {
            const auto pairs = machine_.heap.of(value);
            out_.map(pairs.size() / 2);
            for (std::size_t at = 0; at < pairs.size(); at += 2) {
                require(pairs[at].tag == Tag::text || pairs[at].tag == Tag::integer);
                pack(pairs[at], depth + 1);
                pack(pairs[at + 1], depth + 1);
            }
            return;
        }
        default: throw NotMine{};  // a tuple would come back as a list
        }
    }

    const Machine& machine_;
    Packing& out_;
};

template <class Number> std::vector<char> block(const std::vector<Number>& numbers) {
    const auto* bytes = reinterpret_cast<const char*>(numbers.data());
    return {bytes, bytes + numbers.size() * sizeof(Number)};
}

}  // namespace

void answer(const Machine& machine, Answer& found) {
    const Calls& calls = machine.calls;
    const Interner& interner = calls.interner;
    Packing out;
    out.array(6);
    HeaderPacking(machine, out).pack();
    out.boolean(calls.has(frames));
    out.array(interner.groups.size());
    for (std::uint32_t number = 0; number < interner.groups.size(); ++number) {
        const auto group = interner.groups.key<Interner::Group>(number);
        out.array(2);
        out.text(machine.texts[group.name]);
        out.text(machine.texts[group.desc]);
        require(out.bytes.size() < most_bytes);
    }
    out.array(interner.threads.size());
    for (std::uint32_t number = 0; number < interner.threads.size(); ++number)
        out.text(interner.threads[number]);
    out.map(interner.locals.size());
    for (std::uint32_t number = 0; number < interner.locals.size(); ++number) {
        out.text(std::to_string(interner.locals.key<std::int64_t>(number)));
        out.integer(interner.local_groups[number]);
    }
    out.array(machine.texts.doubtful().size());
    for (const std::uint32_t text : machine.texts.doubtful())
        out.text(machine.texts[text]);
    found.told = std::move(out.bytes);
    found.repeats = interner.packed();
    require(found.told.size() < most_bytes && found.repeats.size() < most_bytes);
    found.calls = calls.count();
    found.blocks[0] = block(calls.kinds);
    for (std::size_t column = 0; column < columns; ++column)
        found.blocks[1 + column] = block(calls.integers[column]);
    found.blocks[1 + columns] = block(calls.durations);
    found.mine = true;
}

}  // namespace raf
