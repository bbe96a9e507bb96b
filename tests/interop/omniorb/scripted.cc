#include "scripted.h"

#include <atomic>
#include <string>
#include "beyond.hh"

namespace beyond_peer {

using namespace beyond;

namespace {

class ScriptedServant : public PortableServer::DynamicImplementation {
public:
  explicit ScriptedServant(PortableServer::POA_ptr poa, CORBA::ORB_ptr orb)
      : poa(PortableServer::POA::_duplicate(poa)), orb(CORBA::ORB::_duplicate(orb)) {}

  char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override {
    return CORBA::string_dup("IDL:zorb.test/beyond/Scripted:1.0");
  }
  CORBA::Boolean _is_a(const char* id) override {
    const std::string asked = id;
    return asked == "IDL:zorb.test/beyond/Scripted:1.0" || asked == "IDL:zorb.test/beyond/Dynamic:1.0" ||
           asked == "IDL:omg.org/CORBA/Object:1.0";
  }

  void invoke(CORBA::ServerRequest_ptr request) override {
    const std::string operation = request->operation();
    CORBA::NVList_ptr list = nullptr;
    orb->create_list(0, list);
    auto takes = [&](const char* name, CORBA::TypeCode_ptr type, CORBA::Flags flags) {
      CORBA::Any any;
      any.replace(type, (void*)nullptr);
      list->add_value(name, any, flags);
    };
    CORBA::Any result;
    if (operation == "change") {
      takes("a", _tc_Pair, CORBA::ARG_IN);
      takes("t", CORBA::_tc_string, CORBA::ARG_IN);
      takes("b", CORBA::_tc_string, CORBA::ARG_OUT);
      takes("c", CORBA::_tc_long, CORBA::ARG_INOUT);
      request->arguments(list);
      const Pair* a = nullptr;
      const char* t = "";
      CORBA::Long c = 0;
      *list->item(0)->value() >>= a;
      *list->item(1)->value() >>= t;
      *list->item(3)->value() >>= c;
      if (c < 0) {
        CORBA::Any raised;
        raised <<= Oops(t, c);
        request->set_exception(raised);
        return;
      }
      *list->item(2)->value() <<= (std::string(t) + t).c_str();
      *list->item(3)->value() <<= CORBA::Long(c + 1);
      result <<= Pair{a->right, a->left};
    } else if (operation == "keep" || operation == "link") {
      takes("a", operation == "keep" ? CORBA::_tc_any : _tc_Node, CORBA::ARG_IN);
      request->arguments(list);
      result = *list->item(0)->value();
    } else if (operation == "poke" || operation == "_set_level") {
      takes("n", CORBA::_tc_long, CORBA::ARG_IN);
      request->arguments(list);
      CORBA::Long n = 0;
      *list->item(0)->value() >>= n;
      level = n;
    } else if (operation == "_get_level") {
      request->arguments(list);
      result <<= CORBA::Long(level);
    } else if (operation == "itself") {
      request->arguments(list);
      CORBA::Object_var object = poa->servant_to_reference(this);
      Dynamic_var typed = Dynamic::_unchecked_narrow(object);
      result <<= typed.in();
    } else {
      request->arguments(list);
      CORBA::Any raised;
      raised <<= CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO);
      request->set_exception(raised);
      return;
    }
    request->set_result(result);
  }

private:
  PortableServer::POA_var poa;
  CORBA::ORB_var orb;
  std::atomic<CORBA::Long> level = 0;
};

}  // namespace

CORBA::Object_ptr scripted(servants::World& world) {
  auto* servant = new ScriptedServant(world.root, world.orb);
  PortableServer::ObjectId_var id = world.root->activate_object(servant);
  CORBA::Object_ptr object = world.root->id_to_reference(id);
  servant->_remove_ref();
  return object;
}

}  // namespace beyond_peer
