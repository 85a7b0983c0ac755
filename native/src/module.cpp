// What Python sees: files in, and of each what it holds, or nothing where that is not for this reader to say.

#include <ctime>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "answer.hpp"
#include "file.hpp"

namespace nb = nanobind;

namespace {

// What the other side expects of `read`: it is raised with every change of what that returns.
constexpr int interface = 1;

nb::object bytes_of(const char* data, std::size_t size) {
    PyObject* made = PyBytes_FromStringAndSize(data, static_cast<Py_ssize_t>(size));
    if (made == nullptr)
        throw nb::python_error();
    return nb::steal(made);
}

nb::object handed_over(raf::Answer& found) {
    if (!found.mine)
        return nb::none();
    nb::list blocks;
    for (auto& block : found.blocks) {
        blocks.append(bytes_of(block.data(), block.size()));
        std::vector<char>().swap(block);
    }
    return nb::make_tuple(found.calls, bytes_of(found.told.data(), found.told.size()),
                          bytes_of(found.repeats.data(), found.repeats.size()), blocks, found.seconds);
}

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void read_all(const std::vector<const char*>& paths, std::size_t most, std::vector<raf::Answer>& found) {
    const auto machine = std::make_unique<raf::Machine>();
    raf::File file;
    for (std::size_t at = 0; at < paths.size(); ++at) {
        const double began = processor_seconds();
        try {
            machine->read(file.read(paths[at], most));
            raf::answer(*machine, found[at]);
        } catch (const raf::NotMine&) {
        } catch (const std::bad_alloc&) {
        }
        found[at].seconds = processor_seconds() - began;
    }
}

nb::list read(const std::vector<nb::bytes>& paths, std::size_t most) {
    std::vector<const char*> names;
    for (const nb::bytes& path : paths)
        names.push_back(path.c_str());
    std::vector<raf::Answer> answers(paths.size());
    {
        const nb::gil_scoped_release released;
        read_all(names, most, answers);
    }
    nb::list found;
    for (raf::Answer& answer : answers)
        found.append(handed_over(answer));
    return found;
}

}  // namespace

NB_MODULE(_native, module) {
    module.attr("version") = RAF_VERSION;
    module.attr("interface") = interface;
    module.def("read", [](const std::vector<nb::bytes>& paths, std::size_t most) { return read(paths, most); },
               nb::arg("paths"), nb::arg("most"),
               "Of each file of at most so many bytes: how many calls it holds, what else is told, what repeats, the "
               "columns, and processor seconds. None where Python's reader is to be asked.");
}
