// The queues of sockets that a library makes by itself: `queue` of ../README.md, for C++ peers whose library has no setting
// for it. To be included by one source file of a program.
//
// These functions stand in for the C library's, in the program and in the libraries that it uses. A TCP socket's queues have
// to be set before it connects or listens, and what it accepts inherits them; a Unix socket that is accepted does not.

#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace peer {

// Octets of each queue; 0 leaves the system's.
inline int queue = 0;

inline int with_queues(int made) {
  if (made >= 0 && queue > 0) {
    setsockopt(made, SOL_SOCKET, SO_SNDBUF, &queue, sizeof queue);
    setsockopt(made, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
  }
  return made;
}

}  // namespace peer

extern "C" int socket(int domain, int type, int protocol) noexcept {
  return peer::with_queues(int(syscall(SYS_socket, domain, type, protocol)));
}

extern "C" int accept(int listener, sockaddr* address, socklen_t* length) {
  return peer::with_queues(int(syscall(SYS_accept4, listener, address, length, 0)));
}
