// What all the servants need: the ORB, its adapters, a way to activate them.

#pragma once

#include <string>
#include <omniORB4/CORBA.h>

namespace servants {

// The ORB and its adapters, built in main and passed to whoever needs them.
struct World {
  CORBA::ORB_var orb;
  PortableServer::POA_var root;
};

}  // namespace servants

namespace beyond_peer {  // beyond.h
void start(servants::World& world);
CORBA::Object_ptr part(servants::World& world, const std::string& interface_name);
}  // namespace beyond_peer

namespace servants {

// Takes a reference to a new servant in `poa`; the adapter keeps the servant.
template <class Interface, class Servant> typename Interface::_ptr_type activate(PortableServer::POA_ptr poa, Servant* servant) {
  PortableServer::ObjectId_var id = poa->activate_object(servant);
  CORBA::Object_var object = poa->id_to_reference(id);
  servant->_remove_ref();
  return Interface::_narrow(object);
}

}  // namespace servants
