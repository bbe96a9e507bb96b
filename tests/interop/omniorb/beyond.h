// The interfaces of beyond.idl: their servants, and the client's cases.

#pragma once

#include "every.hh"
#include "harness.h"

namespace beyond_peer {

// Runs the cases. `every` is nil where they are only listed.
void run(Check check, servants::World& world, interop::Every_ptr every, const std::string& giop);

}  // namespace beyond_peer
