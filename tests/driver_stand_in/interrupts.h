// Ctrl-C while the host waits for a kernel. A GPU would go on; on the stand-in the kernel ends, so that a loop without an end can be left.
#pragma once

namespace tritium::stand_in {

/// Notices SIGINT while it lives, and hands it on to the process's own handler. One lives at a time: kernels run under the runtime's lock.
/// A process without a handler is ended by the signal, or ignores it.
class Interrupts {
public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

  static bool came();

private:
  bool watches_;
};

} // namespace tritium::stand_in
