// A file's bytes, with room behind them that can be read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace raf {

class File {
  public:
    // The content of an ordinary file of at most so many bytes. Throws NotMine.
    std::span<const std::uint8_t> read(const char* path, std::size_t most);

  private:
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::size_t room_ = 0;
};

}  // namespace raf
