// server --ior-file FILE [--giop 1.0|1.1|1.2] [--text latin1|utf8] [--at tcp|unix]: publishes an Every and serves it
// until `shutdown` is called or the process is killed. Prints `ready` when the reference is written.

#include <fstream>
#include <iostream>
#include "servants.h"

int main(int argc, char** argv) {
  try {
    auto options = servants::options(argc, argv);
    servants::World world = servants::start(options);
    interop::Every_var every =
        servants::activate<interop::Every>(world.root, new servants::EveryServant(world));
    CORBA::String_var reference = world.orb->object_to_string(every);
    const std::string file = options["ior-file"], unfinished = file + ".new";
    std::ofstream(unfinished) << reference.in() << '\n';
    std::rename(unfinished.c_str(), file.c_str());  // whoever waits for the file finds it whole
    std::cout << "ready" << std::endl;
    world.orb->run();
    world.orb->destroy();
  } catch (const CORBA::Exception& e) {
    std::cerr << "server: " << e._name() << '\n';
    return 1;
  }
}
