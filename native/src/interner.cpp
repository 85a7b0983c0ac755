#include "interner.hpp"

#include "packing.hpp"

namespace raf {

namespace {

constexpr std::size_t most_frames_of_one = 512, most_dimensions = 64, most_tensors = 1 << 16, most_sizes = 1 << 18;
constexpr std::size_t most_frames = 1 << 19, most_in_stacks = 1 << 22, most_in_sizes = 1 << 23;
constexpr std::uint32_t no_stack = UINT32_MAX;
constexpr std::string_view recorder = "/rankandfile/runtime/recorder/";

bool truth(Value value) {
    require(value.tag == Tag::yes || value.tag == Tag::no);
    return value.tag == Tag::yes;
}

bool is_missing(Value value) { return value.tag == Tag::unset || value.tag == Tag::none; }

bool looks_p2p(std::string_view name) {
    const std::size_t colon = name.find(':');
    if (colon == std::string_view::npos)
        return false;
    const std::string_view op = name.substr(colon + 1);
    return op.starts_with("send ") || op.starts_with("recv ");
}

std::string_view stripped(std::string_view label) {
    while (label.starts_with(' '))
        label.remove_prefix(1);
    while (label.ends_with(' '))
        label.remove_suffix(1);
    return label;
}

}  // namespace

std::int64_t whole(Value value) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    require(value.tag == Tag::integer && -most < value.number && value.number < most);
    return value.number;
}

void Interner::clear(std::size_t most) {
    left_ = most;
    for (Numbers* each : {&groups, &threads, &locals, &kinds_, &shapes_, &stacks_, &frames_})
        each->clear();
    local_groups.clear();
    of_recorder_.clear();
    in_stacks_ = in_sizes_ = 0;
}

std::uint32_t Interner::text(Value value) {
    require(value.tag == Tag::text);
    texts_.use(value.id);
    spend(texts_[value.id].size());
    return value.id;
}

std::span<const Value> Interner::list(Value value, std::size_t most) {
    require(value.tag == Tag::list && heap_.containers[value.id].count <= most);
    spend(heap_.containers[value.id].count);
    return heap_.of(value);
}

std::uint32_t Interner::kind_of(const Fields& fields) {
    Kind kind{};
    const Value named = fields[profiling_name];
    kind.name = named.tag == Tag::unset ? texts_.of("") : text(named);
    require(fields[state].tag == Tag::text);
    kind.state = fields[state].id;
    require(kind.state == scheduled || kind.state == started || kind.state == completed);
    kind.group = group(fields);
    kind.thread = thread(fields);
    kind.shape = shape(fields);
    kind.stack = is_missing(fields[frames]) ? no_stack : stack(fields[frames]);
    kind.retired = fields[retired].tag != Tag::unset && truth(fields[retired]);
    kind.is_p2p = is_missing(fields[is_p2p]) ? looks_p2p(texts_[kind.name]) : truth(fields[is_p2p]);
    kind.has_timeout = !is_missing(fields[timeout_ms]);
    kind.timeout = kind.has_timeout ? whole(fields[timeout_ms]) : 0;
    return kinds_.of_key(kind);
}

std::uint32_t Interner::group(const Fields& fields) {
    const Value local = fields[pg_id], given = fields[process_group];
    Group found{};
    found.has_local = !is_missing(local);
    found.local = found.has_local ? whole(local) : 0;
    if (is_missing(given)) {
        require(found.has_local);
        found.name = texts_.of("#" + std::to_string(found.local));
        found.desc = texts_.of("");
    } else {
        require(given.tag == Tag::tuple || given.tag == Tag::list);
        const std::span<const Value> parts = heap_.of(given);
        require(parts.size() == 2);
        found.name = text(parts[0]);
        found.desc = text(parts[1]);
    }
    const std::uint32_t number = groups.of_key(found);
    if (found.has_local && locals.of_key(found.local) == local_groups.size())
        local_groups.push_back(number);
    return number;
}

std::uint32_t Interner::thread(const Fields& fields) {
    label_.clear();
    if (fields[thread_name].tag != Tag::unset)
        label_ += texts_[text(fields[thread_name])];
    label_ += ' ';
    if (fields[thread_id].tag != Tag::unset)
        label_ += texts_[text(fields[thread_id])];
    return threads.of(stripped(label_));
}

std::uint32_t Interner::shape(const Fields& fields) {
    Packing packed;
    packed.array(4);
    std::size_t weight = 0;
    const auto sizes = [&](Value value) {
        std::size_t in_all = 0;
        const auto tensors = value.tag == Tag::unset ? std::span<const Value>{} : list(value, most_tensors);
        packed.array(tensors.size());
        for (const Value& tensor : tensors) {
            const auto dimensions = list(tensor, most_dimensions);
            require((in_all += dimensions.size()) <= most_sizes);
            packed.array(dimensions.size());
            for (const Value& dimension : dimensions)
                packed.integer(whole(dimension));
        }
        weight += tensors.size() + in_all;
    };
    const auto dtypes = [&](Value value) {
        const auto names = value.tag == Tag::unset ? std::span<const Value>{} : list(value, most_tensors);
        packed.array(names.size());
        for (const Value& name : names)
            packed.text(texts_[text(name)]);
        weight += names.size();
    };
    sizes(fields[input_sizes]);
    dtypes(fields[input_dtypes]);
    sizes(fields[output_sizes]);
    dtypes(fields[output_dtypes]);
    const std::uint32_t before = shapes_.size(), number = shapes_.of(packed.bytes);
    if (number == before)
        require((in_sizes_ += weight) <= most_in_sizes);
    return number;
}

std::uint32_t Interner::stack(Value value) {
    numbers_.clear();
    for (const Value& one : list(value, most_frames_of_one)) {
        const std::uint32_t number = frame(one);
        if (!of_recorder_[number])
            numbers_.push_back(number);
    }
    const std::uint32_t before = stacks_.size();
    const std::uint32_t number =
        stacks_.of({reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * sizeof numbers_[0]});
    if (number == before)
        require((in_stacks_ += numbers_.size()) <= most_in_stacks && frames_.size() <= most_frames);
    return number;
}

std::uint32_t Interner::frame(Value value) {
    require(value.tag == Tag::dict);
    std::uint32_t known = heap_.containers[value.id].frame;
    if (known != unnumbered)
        return known;
    std::array<Value, 3> found{};
    const std::span<const Value> pairs = heap_.of(value);
    for (std::size_t at = 0; at < pairs.size(); at += 2) {
        const Value key = pairs[at];
        require(key.tag == Tag::text && key.id >= name && key.id <= line);
        Value& place = found[key.id - name];
        require(place.tag == Tag::unset);
        place = pairs[at + 1];
    }
    const Frame frame{text(found[0]), text(found[1]), whole(found[2])};
    const std::uint32_t number = frames_.of_key(frame);
    if (number == of_recorder_.size())
        of_recorder_.push_back(texts_[frame.file].find(recorder) != std::string_view::npos);
    return heap_.containers[value.id].frame = number;
}

std::string Interner::packed() const {
    Packing out;
    out.array(4);
    out.array(kinds_.size());
    for (std::uint32_t number = 0; number < kinds_.size(); ++number) {
        const auto kind = kinds_.key<Kind>(number);
        out.array(9);
        out.text(texts_[kind.name]);
        out.integer(kind.group);
        out.integer(kind.thread);
        out.integer(kind.shape);
        kind.stack == no_stack ? out.nothing() : out.integer(kind.stack);
        out.text(texts_[kind.state]);
        out.boolean(kind.retired != 0);
        out.boolean(kind.is_p2p != 0);
        kind.has_timeout != 0 ? out.integer(kind.timeout) : out.nothing();
    }
    out.array(shapes_.size());
    for (std::uint32_t number = 0; number < shapes_.size(); ++number)
        out.raw(shapes_[number]);
    out.array(stacks_.size());
    for (std::uint32_t number = 0; number < stacks_.size(); ++number) {
        const std::string_view stack = stacks_[number];
        out.array(stack.size() / sizeof(std::uint32_t));
        for (std::size_t at = 0; at < stack.size(); at += sizeof(std::uint32_t)) {
            std::uint32_t frame;
            std::memcpy(&frame, stack.data() + at, sizeof frame);
            out.integer(frame);
        }
    }
    out.array(frames_.size());
    for (std::uint32_t number = 0; number < frames_.size(); ++number) {
        const auto frame = frames_.key<Frame>(number);
        out.array(3);
        out.text(texts_[frame.name]);
        out.text(texts_[frame.file]);
        out.integer(frame.line);
    }
    return std::move(out.bytes);
}

}  // namespace raf
