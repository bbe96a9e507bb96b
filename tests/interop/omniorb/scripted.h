// A `Scripted` that is served without its skeleton.

#pragma once

#include "world.h"

namespace beyond_peer {

CORBA::Object_ptr scripted(servants::World& world);

}  // namespace beyond_peer
