// bidirectional server --ior-file FILE: publishes an Every that calls clients back over the connections that they opened.
// bidirectional client IOR [--text latin1|utf8]: has the Every call objects of its own back, and says of each call whether that went well.
//
// Of either side bidirectional GIOP is switched on as omniORB's manual has it: a setting, a transport rule, and for the objects that are called
// back a policy of their adapter.

#include <fstream>
#include <iostream>
#include "servants.h"

using namespace interop;

namespace {

servants::World start(std::map<std::string, std::string> options, bool offers) {
  std::string charset = options["text"] == "utf8" ? "UTF-8" : "ISO-8859-1";
  const char* settings[][2] = {
      {"nativeCharCodeSet", charset.c_str()},
      {"endPoint", "giop:tcp:127.0.0.1:"},
      {"clientCallTimeOutPeriod", "20000"},
      {"offerBiDirectionalGIOP", offers ? "1" : "0"},
      {"acceptBiDirectionalGIOP", offers ? "0" : "1"},
      {"clientTransportRule", "* unix,tcp,bidir"},
      {"serverTransportRule", "* unix,tcp,bidir"},
      {"traceLevel", options.count("trace") ? options["trace"].c_str() : "1"},
      {0, 0}};
  int argc = 0;
  servants::World world;
  world.orb = CORBA::ORB_init(argc, 0, "omniORB4", settings);
  CORBA::Object_var object = world.orb->resolve_initial_references("RootPOA");
  world.root = PortableServer::POA::_narrow(object);
  PortableServer::POAManager_var manager = world.root->the_POAManager();
  manager->activate();
  return world;
}

// An adapter whose objects are called, and call, in both directions.
PortableServer::POA_ptr both_ways(servants::World& world) {
  CORBA::Any both;
  both <<= BiDirPolicy::BOTH;
  CORBA::PolicyList policies;
  policies.length(1);
  policies[0] = world.orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
  PortableServer::POAManager_var manager = world.root->the_POAManager();
  return world.root->create_POA("both ways", manager, policies);
}

int serve(std::map<std::string, std::string>& options) {
  servants::World world = start(options, false);
  // omniORB binds a reference to its client's connection as an object of such an adapter receives it, so all of them live there.
  world.root = both_ways(world);
  Every_var every = servants::activate<Every>(world.root, new servants::EveryServant(world));
  CORBA::String_var reference = world.orb->object_to_string(every);
  const std::string file = options["ior-file"], unfinished = file + ".new";
  std::ofstream(unfinished) << reference.in() << '\n';
  std::rename(unfinished.c_str(), file.c_str());  // whoever waits for the file finds it whole
  std::cout << "ready" << std::endl;
  world.orb->run();
  world.orb->destroy();
  return 0;
}

int call(std::map<std::string, std::string>& options, const std::string& reference) {
  servants::World world = start(options, true);
  PortableServer::POA_var poa = both_ways(world);
  CORBA::Object_var object = world.orb->string_to_object(reference.c_str());
  Every_var every = Every::_narrow(object);
  auto* ear = new servants::ListenerServant;
  ear->_add_ref();
  Listener_var listener = servants::activate<Listener>(poa, ear);
  Peer_var mine = servants::activate<Peer>(poa, new servants::PeerServant);

  int failed = 0;
  auto check = [&](const std::string& what, auto body) {
    std::string wrong;
    try {
      if (!body()) wrong = "another answer";
    } catch (const CORBA::SystemException& e) {
      wrong = std::string(e._name()) + " " + std::to_string(e.minor());
    } catch (const CORBA::Exception& e) {
      wrong = e._name();
    }
    failed += !wrong.empty();
    std::cout << what << ": " << (wrong.empty() ? "passed" : wrong) << std::endl;
  };
  const std::string text = options["text"] == "utf8" ? "w\u00e4rum?" : "w\xe4rum?";
  check("ask", [&] {
    CORBA::String_var answer = every->ask(listener, text.c_str());
    return answer.in() == text + text;
  });
  check("ask-refused", [&] {
    try {
      CORBA::String_var answer = every->ask(listener, "refuse");
      return false;
    } catch (const Refused& e) {
      return e.code == 13;
    }
  });
  check("tell", [&] {
    every->tell(listener, 50);
    for (int i = 0; i < 500 && ear->all().size() < 50; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return ear->all().size() == 50;
  });
  for (CORBA::Long depth : {1, 2, 8})
    check("bounce-" + std::to_string(depth), [&] { return every->bounce_with(mine, depth) == depth; });
  check("threads", [&] {
    std::vector<std::thread> threads;
    std::mutex lock;
    int good = 0;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < 25; ++n) {
          const bool right = every->bounce_with(mine, 3) == 3;
          std::lock_guard<std::mutex> guard(lock);
          good += right;
        }
      });
    for (auto& thread : threads) thread.join();
    return good == 100;
  });
  std::cout << (failed ? "failed" : "all passed") << std::endl;
  world.orb->destroy();
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string role = argc > 1 ? argv[1] : "";
    auto options = servants::options(argc - 1, argv + 1);
    if (role == "server") return serve(options);
    if (role == "client") return call(options, options[""]);
    std::cerr << "bidirectional: server or client\n";
  } catch (const CORBA::Exception& e) {
    std::cerr << "bidirectional: " << e._name() << '\n';
  }
  return 1;
}
