#include "texts.hpp"

namespace raf {

namespace {

constexpr std::size_t most_text = 4096;

// How long the character is that begins here; 0 where none does. As Python's strict UTF-8: no surrogates.
std::size_t character(const unsigned char* at, std::size_t left) {
    const auto follows = [&](std::size_t n) { return n < left && (at[n] & 0xC0) == 0x80; };
    if (at[0] < 0x80)
        return 1;
    if (at[0] >= 0xC2 && at[0] <= 0xDF)
        return follows(1) ? 2 : 0;
    if ((at[0] & 0xF0) == 0xE0) {
        const bool overlong = at[0] == 0xE0 && left > 1 && at[1] < 0xA0;
        const bool surrogate = at[0] == 0xED && left > 1 && at[1] > 0x9F;
        return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (at[0] >= 0xF0 && at[0] <= 0xF4) {
        const bool overlong = at[0] == 0xF0 && left > 1 && at[1] < 0x90;
        const bool beyond = at[0] == 0xF4 && left > 1 && at[1] > 0x8F;
        return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

}  // namespace

Texts::Letters Texts::letters(std::string_view bytes) {
    bool control = false, wide = false;
    for (const unsigned char byte : bytes) {
        control |= byte < 0x20 || byte == 0x7F;
        wide |= byte >= 0x80;
    }
    if (!wide)
        return control ? Letters::control : Letters::plain;
    const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
    for (std::size_t place = 0; place < bytes.size();) {
        const std::size_t length = character(at + place, bytes.size() - place);
        require(length != 0);
        place += length;
    }
    return Letters::wide;
}

void Texts::clear() {
    numbers_.clear();
    letters_.clear();
    used_.clear();
    doubtful_.clear();
    for (const std::string_view word : word_texts)
        of(word);
}

std::uint32_t Texts::of(std::string_view bytes) {
    const std::uint32_t text = numbers_.of(bytes);
    if (text == letters_.size()) {
        letters_.push_back(letters(bytes));
        used_.push_back(false);
    }
    return text;
}

void Texts::use(std::uint32_t text) {
    if (used_[text])
        return;
    require(letters_[text] != Letters::control && numbers_[text].size() <= most_text);
    if (letters_[text] == Letters::wide)
        doubtful_.push_back(text);
    used_[text] = true;
}

}  // namespace raf
