#include "calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bytes.hpp"

namespace raf {

namespace {

constexpr std::array<Word, columns> keys = {record_id,       collective_seq_id,          p2p_seq_id,
                                            op_id,           time_created_ns,            time_discovered_started_ns,
                                            time_discovered_completed_ns};
constexpr std::size_t first_time = 4;
constexpr std::uint32_t no_form = UINT32_MAX;
constexpr std::size_t most_unknown = 16, most_forms = 1 << 16;
constexpr std::size_t always_spent = 1 << 22, spent_per_byte = 16;

// As a column has it: a time of 0 is none, as in the JSON form.
std::int64_t checked(std::size_t column, Value value) {
    if (column >= first_time) {
        if (value.tag == Tag::none)
            return null;
        require(value.tag == Tag::integer && value.number >= 0);
        return value.number == 0 ? null : value.number;
    }
    require(value.tag == Tag::integer);
    return value.number;
}

}  // namespace

void Calls::clear(std::size_t file_size) {
    interner.clear(always_spent + spent_per_byte * file_size);
    kinds.clear();
    for (auto& column : integers)
        column.clear();
    durations.clear();
    timed = false;
    present_ = 0;
    unknown_.clear();
    gaps_.clear();
    forms_.clear();
    form_of_kind_.clear();
    last_ = no_form;
}

Value Calls::of_column(std::size_t column) const {
    const Value value = fields_[keys[column]];
    return column == 1 && !has(collective_seq_id) ? fields_[seq_id] : value;
}

void Calls::push(std::uint32_t kind, bool has_duration) {
    kinds.push_back(kind);
    for (std::size_t column = 0; column < columns; ++column)
        integers[column].push_back(row_[column]);
    if (has_duration && !timed) {
        timed = true;
        durations.assign(kinds.size() - 1, std::numeric_limits<double>::quiet_NaN());
    }
    if (timed)
        durations.push_back(has_duration ? duration_ : std::numeric_limits<double>::quiet_NaN());
}

void Calls::add(Value entry, const std::uint8_t* begin, const std::uint8_t* end, bool plain, const std::uint8_t* file) {
    require(entry.tag == Tag::dict);
    heap_.containers[entry.id].done = true;
    fields_.fill({});
    others_.clear();
    const std::span<const Value> pairs = heap_.of(entry);
    std::uint32_t present = 0;
    for (std::size_t at = 0; at < pairs.size(); at += 2) {
        const Value key = pairs[at];
        require(key.tag == Tag::text);
        if (key.id < entry_words) {
            require((present >> key.id & 1) == 0);
            present |= 1u << key.id;
            fields_[key.id] = pairs[at + 1];
        } else {
            // Keys of a later format: nobody reads them, but nothing that takes room may stand there.
            require(!pairs[at + 1].is_container() && others_.size() < most_unknown &&
                    std::find(others_.begin(), others_.end(), key.id) == others_.end());
            others_.push_back(key.id);
        }
    }
    const bool has_duration = (present >> duration_ms & 1) != 0;
    present &= ~(1u << duration_ms);
    if (kinds.empty()) {
        present_ = present;
        unknown_ = others_;
        require(has(record_id) && (has(collective_seq_id) || has(seq_id)) && has(time_created_ns));
    }
    require(present == present_ && others_ == unknown_);
    if (has_duration) {
        require(fields_[duration_ms].tag == Tag::real);
        duration_ = fields_[duration_ms].real;
    }
    for (std::size_t column = 0; column < columns; ++column) {
        const Value value = of_column(column);
        row_[column] = value.tag == Tag::unset ? null : checked(column, value);
    }
    const std::uint32_t kind = interner.kind_of(fields_);
    push(kind, has_duration);
    const std::size_t place = 2 * std::size_t{kind} + has_duration;
    if (form_of_kind_.size() <= place)
        form_of_kind_.resize(2 * std::size_t{kind} + 2, no_form);
    if (plain && form_of_kind_[place] == no_form && forms_.size() < most_forms) {
        keep_form(begin, end, file, kind);
        if (!forms_.empty() && forms_.back().bytes == begin)
            form_of_kind_[place] = static_cast<std::uint32_t>(forms_.size() - 1);
    }
    follow(form_of_kind_[place]);
}

void Calls::keep_form(const std::uint8_t* begin, const std::uint8_t* end, const std::uint8_t* file,
                      std::uint32_t kind) {
    struct Place {
        std::uint32_t offset, column;
    };
    std::array<Place, columns + 1> places{};
    std::size_t count = 0;
    for (std::size_t column = 0; column <= columns; ++column) {
        const Value value = column == columns ? fields_[duration_ms] : of_column(column);
        if (value.tag == Tag::unset)
            continue;
        const std::uint8_t* at = file + value.id;
        if (value.fetched || at < begin || at >= end)
            return;
        places[count++] = {static_cast<std::uint32_t>(at - begin), static_cast<std::uint32_t>(column)};
    }
    for (std::size_t n = 1; n < count; ++n)
        for (std::size_t at = n; at > 0 && places[at - 1].offset > places[at].offset; --at)
            std::swap(places[at - 1], places[at]);
    Form form{};
    form.bytes = begin;
    form.length = static_cast<std::uint32_t>(end - begin);
    form.kind = kind;
    form.containers = static_cast<std::uint32_t>(heap_.made - entry_containers_);
    form.timed = fields_[duration_ms].tag != Tag::unset;
    form.gap_begin = static_cast<std::uint32_t>(gaps_.size());
    form.gap_count = static_cast<std::uint32_t>(count);
    std::uint32_t from = 0;
    for (std::size_t n = 0; n < count; ++n) {
        const std::uint32_t length = length_of_number(begin + places[n].offset);
        gaps_.push_back({places[n].offset - from, length, places[n].column});
        from = places[n].offset + length;
    }
    form.tail = form.length - from;
    forms_.push_back(form);
}

void Calls::follow(std::uint32_t form) {
    if (last_ != no_form && form != no_form) {
        Form& last = forms_[last_];
        const auto known = last.next.begin() + last.next_count;
        if (std::find(last.next.begin(), known, form) == known) {
            // The newest guess first; the oldest goes.
            last.next_count = std::min(last.next_count + 1, most_guesses);
            std::copy_backward(last.next.begin(), last.next.begin() + last.next_count - 1,
                               last.next.begin() + last.next_count);
            last.next[0] = form;
        }
    }
    last_ = form;
}

const std::uint8_t* Calls::by_form(const std::uint8_t* at, const std::uint8_t* end) {
    if (last_ == no_form)
        return nullptr;
    const Form& last = forms_[last_];
    for (std::uint32_t n = 0; n < last.next_count; ++n) {
        const std::uint32_t number = last.next[n];
        const Form& form = forms_[number];
        if (const std::uint8_t* after = matched(form, at, end)) {
            push(form.kind, form.timed);
            heap_.made += form.containers;
            last_ = number;
            return after;
        }
    }
    return nullptr;
}

const std::uint8_t* Calls::matched(const Form& form, const std::uint8_t* at, const std::uint8_t* end) {
    // Numbers may be longer here than they were in the form.
    if (static_cast<std::size_t>(end - at) < form.length + 10 * form.gap_count)
        return nullptr;
    const std::uint8_t* fixed = form.bytes;
    row_.fill(null);
    for (std::uint32_t n = 0; n < form.gap_count; ++n) {
        const Gap gap = gaps_[form.gap_begin + n];
        if (!same(at, fixed, gap.before))
            return nullptr;
        at += gap.before;
        fixed += gap.before + gap.length;
        if (gap.column == columns) {
            if (*at != 'G')
                return nullptr;
            duration_ = real_at(at + 1);
            at += 9;
            continue;
        }
        std::int64_t number;
        switch (*at) {
        case 'K': number = at[1]; at += 2; break;
        case 'M': number = little<std::uint16_t>(at + 1); at += 3; break;
        case 'J': number = little<std::int32_t>(at + 1); at += 5; break;
        case 0x8A:
            if (at[1] != 8)
                return nullptr;
            number = little<std::int64_t>(at + 2);
            at += 10;
            break;
        case 'N':
            if (gap.column < first_time)
                return nullptr;
            at += 1;
            continue;
        default: return nullptr;
        }
        if (gap.column >= first_time) {
            if (number < 0)
                return nullptr;
            if (number == 0)
                number = null;
        }
        row_[gap.column] = number;
    }
    return same(at, fixed, form.tail) ? at + form.tail : nullptr;
}

void Calls::finish() const {
    // A number that appears twice is damage.
    const std::vector<std::int64_t>& records = integers[0];
    if (std::adjacent_find(records.begin(), records.end(), std::greater_equal<>()) == records.end())
        return;
    std::vector<std::int64_t> sorted = records;
    std::sort(sorted.begin(), sorted.end());
    require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

}  // namespace raf
