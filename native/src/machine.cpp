#include "machine.hpp"

#include <algorithm>

#include "bytes.hpp"

namespace raf {

namespace {

constexpr std::size_t most_marks = 64, most_header = 256;
// What Python makes of as many may still fit into what its reader may take.
constexpr std::uint64_t always_made = 1 << 20, bytes_per_made = 16;
constexpr std::size_t always_held = 1 << 20, bytes_per_held = 2, most_held = 8 << 20;

}  // namespace

void Machine::read(std::span<const std::uint8_t> file) {
    texts.clear();
    heap.clear();
    calls.clear(file.size());
    header.clear();
    stack_.clear();
    memo_.clear();
    marks_.clear();
    begin_ = at_ = file.data();
    end_ = begin_ + file.size();
    frame_end_ = nullptr;
    entries_at_ = puts_ = 0;
    plain_ = keeps_ = over_ = false;
    most_made_ = always_made + file.size() / bytes_per_made;
    most_held_ = std::min(always_held + file.size() / bytes_per_held, most_held);
    run();
    require(calls.count() != 0);
    calls.finish();
}

void Machine::run() {
    require(end_ - begin_ > 4 && begin_[0] == 0x80 && begin_[1] >= 2 && begin_[1] <= 5);
    while (!over_) {
        if (in_entries() && stack_.size() == marks_[1]) {
            // No frame may end within what is taken at once.
            const std::uint8_t* most = frame_end_ != nullptr && frame_end_ > at_ ? frame_end_ : end_;
            while (const std::uint8_t* after = calls.by_form(at_, most))
                at_ = after;
            require(heap.made <= most_made_);
            entry_begins();
        }
        const std::uint8_t* before = at_;
        step();
        // Python's slow reader refuses what lies across the end of a frame.
        require(frame_end_ == nullptr || at_ <= frame_end_ || before >= frame_end_);
    }
    require(stack_.size() == 1 && marks_.empty() && stack_[0].tag == Tag::dict && entries_at_ != 0);
}

const std::uint8_t* Machine::take(std::size_t size) {
    require(static_cast<std::size_t>(end_ - at_) >= size);
    return std::exchange(at_, at_ + size);
}

template <class Number> Number Machine::argument() { return little<Number>(take(sizeof(Number))); }

void Machine::step() {
    const std::uint8_t* here = take(1);
    switch (*here) {
    case 0x80: require(*take(1) <= 5); plain_ = false; break;
    case 0x95: frame(); break;
    case '}': push_container(Tag::dict); break;
    case ']': push_container(Tag::list); break;
    case ')': push_container(Tag::tuple); break;
    case '(':
        require(marks_.size() < most_marks);
        marks_.push_back(stack_.size());
        break;
    case 't': push_tuple(pop_mark()); break;
    case 0x85:
    case 0x86:
    case 0x87: {
        const std::size_t size = *here - 0x84u;
        require(stack_.size() >= floor() + size);
        push_tuple(stack_.size() - size);
        break;
    }
    case 'u': set_items(pop_mark()); break;
    case 's':
        require(stack_.size() >= floor() + 3);
        set_items(stack_.size() - 2);
        break;
    case 'e': append_items(pop_mark()); break;
    case 'a':
        require(stack_.size() >= floor() + 2);
        append_items(stack_.size() - 1);
        break;
    case 'N': push(Value(Tag::none, static_cast<std::uint32_t>(here - begin_))); break;
    case 0x88: push(Value(Tag::yes)); break;
    case 0x89: push(Value(Tag::no)); break;
    case 'K': push_number(argument<std::uint8_t>(), here); break;
    case 'M': push_number(argument<std::uint16_t>(), here); break;
    case 'J': push_number(argument<std::int32_t>(), here); break;
    case 0x8A: {
        const std::size_t size = argument<std::uint8_t>();
        require(size <= 8);
        const std::uint8_t* bytes = take(size);
        std::uint64_t number = size != 0 && (bytes[size - 1] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
        for (std::size_t n = size; n-- > 0;)
            number = number << 8 | bytes[n];
        push_number(static_cast<std::int64_t>(number), here);
        break;
    }
    case 'G': {
        Value value(Tag::real, static_cast<std::uint32_t>(here - begin_));
        value.real = real_at(take(8));
        push(value);
        break;
    }
    case 'X': push_text(argument<std::uint32_t>()); break;
    case 0x8C: push_text(argument<std::uint8_t>()); break;
    case 'q': put(argument<std::uint8_t>()); break;
    case 'r': put(argument<std::uint32_t>()); break;
    case 0x94: put(puts_); break;
    case 'h': get(argument<std::uint8_t>()); break;
    case 'j': get(argument<std::uint32_t>()); break;
    case '.': over_ = true; break;
    default: throw NotMine{};
    }
}

void Machine::frame() {
    const auto size = argument<std::uint64_t>();
    require(size <= static_cast<std::uint64_t>(end_ - at_) && (frame_end_ == nullptr || at_ - 9 >= frame_end_));
    frame_end_ = at_ + size;
    plain_ = false;
}

std::size_t Machine::pop_mark() {
    require(!marks_.empty());
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
}

void Machine::push(Value value) {
    require(stack_.size() + heap.items.size() < most_held_);
    stack_.push_back(value);
}

void Machine::push_number(std::int64_t number, const std::uint8_t* at) {
    Value value(Tag::integer, static_cast<std::uint32_t>(at - begin_));
    value.number = number;
    push(value);
}

void Machine::push_text(std::size_t size) {
    const std::uint8_t* bytes = take(size);
    push(Value(Tag::text, texts.of({reinterpret_cast<const char*>(bytes), size})));
}

void Machine::push_container(Tag tag) {
    require(heap.made < most_made_);
    const Value value(tag, heap.add());
    heap.containers[value.id].begin = static_cast<std::uint32_t>(heap.items.size());
    // The entries are told as the outermost dict is written: its mark, keys and values in turn.
    const bool is_value = marks_.size() == 1 && marks_[0] == 1 && stack_.size() % 2 == 0;
    if (tag == Tag::list && is_value && stack_.back().tag == Tag::text && stack_.back().id == entries) {
        require(entries_at_ == 0 && stack_[0].tag == Tag::dict && header.empty());
        entries_at_ = stack_.size();
        heap.containers[value.id].is_entries = true;
    }
    push(value);
}

void Machine::push_tuple(std::size_t from) {
    require(heap.made < most_made_);
    Value value(Tag::tuple, heap.add());
    heap.containers[value.id].begin = static_cast<std::uint32_t>(heap.items.size());
    hold(value, from);
    push(value);
}

// What lies on the stack from there on goes into a container.
void Machine::hold(Value container, std::size_t from) {
    heap.append(container.id, std::span(stack_).subspan(from));
    require(heap.items.size() <= most_held_);
    stack_.resize(from);
}

void Machine::put(std::uint64_t place) {
    require(stack_.size() > floor() && place <= 2 * puts_ + 1024);
    if (memo_.size() <= place)
        memo_.resize(place + 1);
    // One that is given anew would change what stood for it before.
    require(memo_[place].tag == Tag::unset);
    memo_[place] = stack_.back();
    memo_[place].fetched = true;
    keeps_ = keeps_ || stack_.back().is_container();
    plain_ = false;
    ++puts_;
}

void Machine::get(std::uint64_t place) {
    require(place < memo_.size());
    const Value value = memo_[place];
    require(value.tag != Tag::unset);
    if (value.is_container())
        heap.containers[value.id].done = true;
    push(value);
}

bool Machine::is_entries(Value value) const {
    return value.tag == Tag::list && heap.containers[value.id].is_entries;
}

// `first`: where what goes into the dict begins, right behind it.
void Machine::set_items(std::size_t first) {
    require(first >= floor() + 1 && first <= stack_.size() && (stack_.size() - first) % 2 == 0);
    const Value dict = stack_[first - 1];
    require(dict.tag == Tag::dict && !heap.containers[dict.id].done);
    const std::span<const Value> pairs = std::span(stack_).subspan(first);
    if (first == 1) {
        require(header.size() + pairs.size() / 2 <= most_header);
        for (std::size_t at = 0; at < pairs.size(); at += 2) {
            require(pairs[at].tag == Tag::text);
            const bool is_known = std::any_of(header.begin(), header.end(),
                                              [&](const auto& known) { return known.first == pairs[at].id; });
            require(!is_known && (pairs[at].id != entries || is_entries(pairs[at + 1])));
            if (pairs[at + 1].is_container())
                heap.containers[pairs[at + 1].id].done = true;
            header.emplace_back(pairs[at].id, pairs[at + 1]);
        }
        stack_.resize(first);
        return;
    }
    hold(dict, first);
    if (in_entries() && first == marks_[1] + 1) {
        require(stack_.size() == first);
        entry_ends(dict);
    }
}

void Machine::append_items(std::size_t first) {
    require(first >= floor() + 1 && first <= stack_.size());
    const Value list = stack_[first - 1];
    require(list.tag == Tag::list && !heap.containers[list.id].done);
    if (heap.containers[list.id].is_entries) {
        // Each was taken as it ended; one that was appended by itself is whole now.
        require(stack_.size() - first <= 1);
        if (stack_.size() > first) {
            entry_begins();
            plain_ = false;
            keeps_ = true;
            entry_ends(stack_.back());
        }
        return;
    }
    hold(list, first);
}

void Machine::entry_begins() {
    entry_ = at_;
    plain_ = true;
    keeps_ = false;
    entry_items_ = heap.items.size();
    entry_containers_ = heap.containers.size();
    calls.begins();
}

void Machine::entry_ends(Value entry) {
    require(entry.tag == Tag::dict && !heap.containers[entry.id].done);
    calls.add(entry, entry_, at_, plain_, begin_);
    stack_.pop_back();
    if (!keeps_) {
        heap.items.resize(entry_items_);
        heap.containers.resize(entry_containers_);
    }
}

}  // namespace raf
