#include "file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.hpp"
#include "numbers.hpp"

namespace raf {

namespace {

struct Opened {
    explicit Opened(const char* path) : number(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Opened() {
        if (number >= 0)
            ::close(number);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    const int number;
};

// What comes until so much has come; less only where the file ends.
std::size_t read_all(int file, std::uint8_t* to, std::size_t size) {
    std::size_t got = 0;
    while (got < size) {
        const ssize_t more = ::read(file, to + got, size - got);
        if (more < 0 && errno == EINTR)
            continue;
        require(more >= 0);
        if (more == 0)
            break;
        got += static_cast<std::size_t>(more);
    }
    return got;
}

// The beginning of a dump, as it is recognised by its first bytes; an archive of the old kind is told by others.
bool begins_a_dump(const std::uint8_t* head, std::size_t size) {
    const bool is_tar = size >= 262 && std::memcmp(head + 257, "ustar", 5) == 0;
    return size > 12 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 && head[head[2] == 0x95 ? 11 : 2] == '}' &&
           !is_tar;
}

}  // namespace

std::span<const std::uint8_t> File::read(const char* path, std::size_t most) {
    constexpr std::size_t first = 512;
    const Opened file(path);
    struct stat found {};
    require(file.number >= 0 && ::fstat(file.number, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0);
    const auto size = static_cast<std::size_t>(found.st_size);
    require(size <= most);
    if (size + padding > room_) {
        room_ = 0;
        bytes_.reset(new std::uint8_t[size + size / 8 + padding]);
        room_ = size + size / 8 + padding;
    }
    const std::size_t head = read_all(file.number, bytes_.get(), std::min(size, first));
    require(head == std::min(size, first) && begins_a_dump(bytes_.get(), head));
    // One that grows or shrinks is being written: whoever reads it next says what it is.
    require(read_all(file.number, bytes_.get() + head, size - head) == size - head);
    std::memset(bytes_.get() + size, 0, padding);
    return {bytes_.get(), size};
}

}  // namespace raf
