// The recorder's hot path: what kernels.py, recorder.py and stacks.py do per call, in the same format.
//
// Everything that happens once per kind of thing (a new stack, shape, group, thread) is asked of Python. State is only
// touched with the GIL held, so that it needs no lock; the exceptions are said where they are.

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/custom_class.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace py = pybind11;

namespace {

constexpr size_t kRecord = 128, kBody = 112, kLeftAt = 120, kDoneAt = 124;
constexpr uint32_t kRaised = 0xFFFFFFFF;
constexpr uint8_t kSync = 1, kP2P = 2, kOnDevice = 4, kCaptured = 8, kInFlight = 16;
constexpr uint64_t kPrime = 0x9E3779B97F4A7C15ull;
constexpr size_t kMostFollowed = 256;

#pragma pack(push, 1)
struct Body {
  uint64_t number, mono, wall, hash, in_elements, out_elements, splits, seq, p2p_seq, op_seq;
  uint32_t stack, site, shape, group, thread, step;
  int32_t peer;
  uint8_t kind, op, reduce_op, flags;
};
#pragma pack(pop)
static_assert(sizeof(Body) == kBody, "the layout of wire/layout.py");

struct Operator {
  std::string name;
  int number, group, inputs, outputs, peer, sync, reduce_op;
  std::vector<int> splits;
  bool p2p, free_sizes;
  int tag;
};
struct Group { uint32_t number = 0; uint64_t hash = 0, seq = 0, p2p_seq = 0, op_seq = 0; };
struct Shape { uint32_t number = 0; uint64_t in = 0, out = 0, digest = 0; };
struct Stack { uint32_t number = 0, site = 0; uint64_t site_hash = 0; };
struct Token { size_t at = 0; uint64_t number = 0, mono = 0; };
struct Followed { Token token; c10::intrusive_ptr<c10d::Work> work; };

enum State { kOff, kOn, kForked };

struct Recorder {
  uint8_t* map = nullptr;
  size_t header = 0, capacity = 0, last_at = 0;
  // Kinds that are remembered; beyond them each call asks Python, which has the same limits.
  size_t most_stacks = 0, most_shapes = 0, most_groups = 0;
  uint64_t numbers = 0;
  uint64_t life = 0;
  uint32_t step = 0;
  std::unordered_map<uint64_t, Group> groups;
  std::unordered_map<uint64_t, Shape> shapes;
  std::unordered_map<uint64_t, Stack> stacks;
};

// Never destroyed: calls can come while the process ends.
Recorder& recorder = *new Recorder;
std::atomic<int> state{kOff};
std::atomic<uint64_t> failures{0};
std::atomic<bool> capturing{false}, follow_device{false};
std::mutex& followed_lock = *new std::mutex;
std::deque<Followed>& followed = *new std::deque<Followed>;
PyObject* learn_stack = nullptr;
PyObject* learn_shape = nullptr;
PyObject* learn_group = nullptr;
PyObject* learn_thread = nullptr;
PyObject* learn_exception = nullptr;
PyObject* reopen = nullptr;

uint64_t now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return uint64_t(t.tv_sec) * 1000000000ull + uint64_t(t.tv_nsec);
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kPrime;
  return hash ^ (hash >> 29);
}

uint32_t crc32(const uint8_t* data, size_t size) {
  static const auto tables = [] {
    std::array<std::array<uint32_t, 256>, 8> t{};
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t c = i;
      for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
      t[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
      for (int k = 1; k < 8; k++) t[k][i] = t[0][t[k - 1][i] & 255] ^ (t[k - 1][i] >> 8);
    return t;
  }();
  uint32_t c = 0xFFFFFFFF;
  for (; size >= 8; data += 8, size -= 8) {
    uint32_t low, high;
    std::memcpy(&low, data, 4);
    std::memcpy(&high, data + 4, 4);
    low ^= c;
    c = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
        tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  while (size--) c = tables[0][(c ^ *data++) & 255] ^ (c >> 8);
  return ~c;
}

// As Ring.put does it: an order of stores that leaves no half-written record with a fitting check.
size_t put(const Body& body) {
  size_t at = recorder.header + (body.number - 1) % recorder.capacity * kRecord;
  uint8_t* to = recorder.map + at;
  std::memset(to + kBody, 0, kRecord - kBody);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  uint32_t check = crc32(reinterpret_cast<const uint8_t*>(&body), kBody);
  std::memcpy(to, &body, kBody);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to + kBody, &check, 4);
  std::memcpy(recorder.map + recorder.last_at, &body.number, 8);
  return at;
}

// Without the GIL: one aligned store. The number tells whether the ring has come round to another record.
void stamp(const Token& token, size_t where, uint32_t value) {
  uint64_t number;
  std::memcpy(&number, recorder.map + token.at, 8);
  if (number == token.number) std::memcpy(recorder.map + token.at + where, &value, 4);
}

uint32_t elapsed(const Token& token) {
  uint64_t us = (now(CLOCK_MONOTONIC) - token.mono) / 1000;
  return uint32_t(std::min<uint64_t>(std::max<uint64_t>(us, 1), kRaised - 1));
}

Stack stack_of() {
  // Borrowed by the thread state; those further out are ours to release.
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return {};
  PyFrameObject* innermost = frame;
  Py_INCREF(frame);
  uint64_t hash = kPrime;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    hash = mix(hash, reinterpret_cast<uint64_t>(code));
#if PY_VERSION_HEX >= 0x030B0000
    hash = mix(hash, uint64_t(PyFrame_GetLasti(frame)));
#else
    hash = mix(hash, uint64_t(PyFrame_GetLineNumber(frame)));
#endif
    Py_DECREF(code);  // the frame still holds it
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  auto known = recorder.stacks.find(hash);
  if (known != recorder.stacks.end()) return known->second;
  auto found = py::reinterpret_borrow<py::object>(learn_stack)(
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(innermost)));
  auto told = found.cast<std::tuple<uint32_t, uint32_t, uint64_t>>();
  Stack stack{std::get<0>(told), std::get<1>(told), std::get<2>(told)};
  if (recorder.stacks.size() < recorder.most_stacks) recorder.stacks.emplace(hash, stack);
  return stack;
}

template <class Each>
void each_tensor(const c10::IValue& value, const Each& each) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) each(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) if (tensor.defined()) each(tensor);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) each_tensor(item, each);
  }
}

bool on_device(const c10::IValue& value) {
  bool device = false;
  each_tensor(value, [&](const at::Tensor& tensor) { device |= !tensor.device().is_cpu(); });
  return device;
}

uint64_t side_hash(uint64_t hash, const c10::IValue& value) {
  each_tensor(value, [&](const at::Tensor& tensor) {
    hash = mix(hash, uint64_t(tensor.scalar_type()) << 8 | uint64_t(tensor.dim()));
    for (auto size : tensor.sizes()) hash = mix(hash, uint64_t(size));
  });
  return mix(hash, 0xABCD);
}

py::list described(const c10::IValue& value) {
  py::list sizes, dtypes;
  each_tensor(value, [&](const at::Tensor& tensor) {
    sizes.append(py::cast(tensor.sizes().vec()));
    dtypes.append(py::str(c10::toString(tensor.scalar_type())));
  });
  py::list both;
  both.append(sizes);
  both.append(dtypes);
  return both;
}

Shape shape_of(const Operator& op, const c10::IValue* arguments) {
  const c10::IValue& inputs = arguments[op.inputs];
  uint64_t hash = side_hash(kPrime, inputs);
  if (op.outputs != op.inputs) hash = side_hash(hash, arguments[op.outputs]);
  auto known = recorder.shapes.find(hash);
  if (known != recorder.shapes.end()) return known->second;
  py::list in = described(inputs), out = op.outputs == op.inputs ? in : described(arguments[op.outputs]);
  auto told = py::reinterpret_borrow<py::object>(learn_shape)(in[0], in[1], out[0], out[1])
                  .cast<std::tuple<uint32_t, uint64_t, uint64_t, uint64_t>>();
  Shape shape{std::get<0>(told), std::get<1>(told), std::get<2>(told), std::get<3>(told)};
  if (recorder.shapes.size() < recorder.most_shapes) recorder.shapes.emplace(hash, shape);
  return shape;
}

Group& group_of(const c10::IValue& value) {
  auto group = value.toCustomClass<c10d::ProcessGroup>();
  const std::string& name = group->getGroupName();
  uint64_t key = mix(reinterpret_cast<uint64_t>(group.get()), std::hash<std::string>{}(name));
  auto known = recorder.groups.find(key);
  if (known != recorder.groups.end()) return known->second;
  Group found;
  found.number = py::reinterpret_borrow<py::object>(learn_group)(
                     name, group->getGroupDesc(), group->getRank(), group->getSize()).cast<uint32_t>();
  // Counters of groups that are gone are of no use; those in use are counted anew.
  if (recorder.groups.size() >= recorder.most_groups) recorder.groups.clear();
  return recorder.groups.emplace(key, found).first->second;
}

uint32_t thread_number() {
  thread_local uint32_t number = 0;
  thread_local uint64_t life = 0;
  if (life != recorder.life) {
    number = py::reinterpret_borrow<py::object>(learn_thread)().cast<uint32_t>();
    life = recorder.life;
  }
  return number;
}

uint8_t reduce_op_of(const c10::IValue& value) {
  auto op = value.toCustomClass<c10d::ReduceOp>();
  return uint8_t(op->op_) + 1;
}

// Whether the calling thread is in a handler, a `finally` or an `__exit__`.
bool handles_exception() {
  PyObject *type, *value, *trace;
  PyErr_GetExcInfo(&type, &value, &trace);
  bool found = value && value != Py_None;
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return found;
}

bool record(const Operator& op, const c10::IValue* arguments, Token& token) {
  if (Py_IsInitialized() == 0) return false;
  py::gil_scoped_acquire gil;
  // An error of Python that is on its way must arrive as it was.
  py::error_scope keep;
  try {
    if (state.load() == kForked) {
      state = kOff;
      py::reinterpret_borrow<py::object>(reopen)();
    }
    if (state.load() != kOn) return false;
    Body body{};
    Group& group = group_of(arguments[op.group]);
    Shape shape = shape_of(op, arguments);
    Stack stack = stack_of();
    body.stack = stack.number;
    body.site = stack.site;
    body.shape = shape.number;
    body.in_elements = shape.in;
    body.out_elements = shape.out;
    body.group = group.number;
    body.thread = thread_number();
    body.step = recorder.step;
    body.peer = op.peer >= 0 ? int32_t(arguments[op.peer].toInt()) : -1;
    body.reduce_op = op.reduce_op >= 0 ? reduce_op_of(arguments[op.reduce_op]) : 0;
    for (int at : op.splits)
      for (int64_t size : arguments[at].toIntVector()) body.splits = mix(body.splits + 1, uint64_t(size));
    if (op.tag >= 0) body.splits = uint64_t(arguments[op.tag].toInt());
    body.kind = 1;
    body.op = uint8_t(op.number);
    body.flags = (op.p2p ? kP2P : 0) | (on_device(arguments[op.inputs]) ? kOnDevice : 0) | (capturing.load() ? kCaptured : 0);
    if (op.sync >= 0 && !arguments[op.sync].toBool()) body.flags |= kSync;
    if (handles_exception()) {
      body.flags |= kInFlight;
      py::reinterpret_borrow<py::object>(learn_exception)();
    }
    body.number = ++recorder.numbers;
    group.op_seq++;
    if (op.p2p) {
      group.p2p_seq++;
    } else {
      group.seq++;
      uint64_t contract = mix(mix(mix(mix(kPrime, op.number), op.free_sizes ? 0 : shape.digest),
                                  uint64_t(body.peer) << 8 | body.reduce_op), stack.site_hash);
      group.hash = (group.hash ^ contract) * kPrime + 1;
      body.hash = group.hash;
    }
    body.seq = group.seq;
    body.p2p_seq = group.p2p_seq;
    body.op_seq = group.op_seq;
    body.mono = now(CLOCK_MONOTONIC);
    body.wall = now(CLOCK_REALTIME);
    token = {put(body), body.number, body.mono};
    return true;
  } catch (...) {
    failures++;
    return false;
  }
}

void follow(const Token& token, const torch::jit::Stack& stack, bool device) {
  // Asking for work that is being captured would disturb the capture.
  if ((device && !follow_device.load()) || capturing.load() || stack.empty()) return;
  const c10::IValue& last = stack.back();
  if (!last.isCustomClass()) return;
  auto work = last.toCustomClass<c10d::Work>();
  if (!work) return;
  // What is given up is released outside of the lock: its end may take the GIL.
  Followed given_up;
  {
    std::lock_guard<std::mutex> hold(followed_lock);
    if (followed.size() >= kMostFollowed) {
      given_up = std::move(followed.front());
      followed.pop_front();
    }
    followed.push_back({token, std::move(work)});
  }
}

// The thread's last call, if it is one that its caller waits for at once.
thread_local Token last_of_thread;

void waited() {
  if (last_of_thread.number && state.load() == kOn) stamp(last_of_thread, kDoneAt, elapsed(last_of_thread));
  last_of_thread = Token{};
}

struct Kernel : public c10::OperatorKernel {
  explicit Kernel(Operator op, size_t arguments) : op(std::move(op)), arguments(arguments) {}
  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    keys = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::BackendSelect);
    Token token;
    int before = state.load(std::memory_order_relaxed);
    if (before == kOff || !record(op, &*(stack->end() - long(arguments)), token)) {
      handle.redispatchBoxed(keys, stack);
      return;
    }
    const c10::IValue* given = &*(stack->end() - long(arguments));
    bool device = on_device(given[op.inputs]), is_sync = op.sync >= 0 && !given[op.sync].toBool();
    try {
      handle.redispatchBoxed(keys, stack);
    } catch (...) {
      if (state.load() == kOn) stamp(token, kLeftAt, kRaised);
      throw;
    }
    if (state.load() != kOn) return;
    stamp(token, kLeftAt, elapsed(token));
    // Without work to ask about, its return is its end.
    if (handle.schema().returns().empty()) stamp(token, kDoneAt, elapsed(token));
    last_of_thread = device || !is_sync ? Token{} : token;
    try {
      follow(token, *stack, device);
    } catch (...) {
      failures++;
    }
  }
  Operator op;
  size_t arguments;
};

std::vector<std::unique_ptr<torch::Library>>& libraries = *new std::vector<std::unique_ptr<torch::Library>>;

void install(const std::vector<py::tuple>& operators) {
  auto library = std::make_unique<torch::Library>(
      torch::Library::IMPL, "c10d", c10::DispatchKey::BackendSelect, __FILE__, __LINE__);
  for (const py::tuple& t : operators) {
    Operator op{t[0].cast<std::string>(), t[1].cast<int>(), t[2].cast<int>(), t[3].cast<int>(), t[4].cast<int>(),
                t[5].cast<int>(), t[6].cast<int>(), t[7].cast<int>(), t[8].cast<std::vector<int>>(),
                t[9].cast<bool>(), t[10].cast<bool>(), t[11].cast<int>()};
    std::string name = op.name;
    size_t arguments = t[12].cast<size_t>();
    library->impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(std::move(op), arguments)));
  }
  libraries.push_back(std::move(library));
}

void configure(py::buffer map, size_t header, size_t capacity, size_t last_at,
               std::tuple<size_t, size_t, size_t> most, py::function stack, py::function shape,
               py::function group, py::function thread, py::function exception, py::function again) {
  py::buffer_info info = map.request(true);
  uint64_t life = recorder.life + 1;
  recorder = Recorder{};
  recorder.map = static_cast<uint8_t*>(info.ptr);
  recorder.header = header;
  recorder.capacity = capacity;
  recorder.last_at = last_at;
  std::tie(recorder.most_stacks, recorder.most_shapes, recorder.most_groups) = most;
  recorder.life = life;
  learn_stack = stack.release().ptr();
  learn_shape = shape.release().ptr();
  learn_group = group.release().ptr();
  learn_thread = thread.release().ptr();
  learn_exception = exception.release().ptr();
  reopen = again.release().ptr();
  capturing = false;
  state = kOn;
}

size_t ask() {
  std::deque<Followed> mine;
  {
    std::lock_guard<std::mutex> hold(followed_lock);
    mine.swap(followed);
  }
  std::deque<Followed> open;
  for (Followed& one : mine) {
    bool done = true;
    try {
      done = one.work->isCompleted();
      // Work that failed is over, but not complete: who looks later must find it as it was left.
      if (done && state.load() == kOn && !one.work->exception()) {
        stamp(one.token, kDoneAt, elapsed(one.token));
      }
    } catch (...) {
      failures++;
    }
    if (!done) open.push_back(std::move(one));
  }
  size_t left = open.size();
  std::lock_guard<std::mutex> hold(followed_lock);
  for (Followed& one : followed) open.push_back(std::move(one));
  followed.swap(open);
  return left;
}

void stop(bool forked) {
  state = forked ? kForked : kOff;
  last_of_thread = Token{};
  if (forked) {
    // A lock or a work object of the parent's threads is nothing that the child may touch.
    new (&followed_lock) std::mutex;
    new (&followed) std::deque<Followed>;
    return;
  }
  std::deque<Followed> dropped;
  std::lock_guard<std::mutex> hold(followed_lock);
  dropped.swap(followed);
}

}  // namespace

PYBIND11_MODULE(raf_native, m) {
  m.def("install", &install);
  m.def("configure", &configure);
  m.def("ask", &ask, py::call_guard<py::gil_scoped_release>());
  m.def("stop", &stop);
  m.def("waited", &waited);
  m.def("set_capturing", [](bool now) { capturing = now; });
  m.def("set_follow_device", [](bool wanted) { follow_device = wanted; });
  m.def("next_number", [] { return ++recorder.numbers; });
  m.def("set_step", [](uint32_t step) { recorder.step = step; });
  m.def("remembered", [] {
    return std::make_tuple(recorder.stacks.size(), recorder.shapes.size(), recorder.groups.size());
  });
  m.def("failures", [] { return failures.load(); });
}
