// Service contexts by omniORB's interceptors: a request with 0x5a4f5201 is answered with 0x5a4f5202, the same octets reversed.

#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <omniORB4/CORBA.h>
#include <omniORB4/omniInterceptors.h>

namespace tracing {

const CORBA::ULong ASKS = 0x5a4f5201, ANSWERS = 0x5a4f5202;

// What this thread sends with its requests, and what the last of its replies had.
extern thread_local std::optional<std::string> sends, answered;
// Requests that came with the context.
extern std::atomic<unsigned> seen;

// After the ORB is there.
void start();

}  // namespace tracing
