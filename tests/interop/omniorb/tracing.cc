#include "tracing.h"

#include <algorithm>
#include <omniORB4/internal/giopStream.h>
#include <omniORB4/internal/giopStrand.h>
#include <omniORB4/internal/GIOP_C.h>
#include <omniORB4/internal/GIOP_S.h>

namespace tracing {

thread_local std::optional<std::string> sends, answered;
std::atomic<unsigned> seen;

namespace {

// What the request had that this thread serves: its contexts are gone when the reply's are asked for.
thread_local std::optional<std::string> asked;

// A context of the id, as octets.
std::optional<std::string> find(IOP::ServiceContextList& contexts, CORBA::ULong id) {
  for (CORBA::ULong i = 0; i < contexts.length(); ++i)
    if (contexts[i].context_id == id)
      return std::string((const char*)contexts[i].context_data.get_buffer(), contexts[i].context_data.length());
  return std::nullopt;
}

void add(IOP::ServiceContextList& contexts, CORBA::ULong id, const std::string& octets) {
  const CORBA::ULong at = contexts.length();
  contexts.length(at + 1);
  contexts[at].context_id = id;
  contexts[at].context_data.length(octets.size());
  std::copy(octets.begin(), octets.end(), contexts[at].context_data.get_buffer());
}

CORBA::Boolean send_request(omni::omniInterceptors::clientSendRequest_T::info_T& info) {
  answered.reset();
  if (sends) add(info.service_contexts, ASKS, *sends);
  return true;
}
CORBA::Boolean receive_reply(omni::omniInterceptors::clientReceiveReply_T::info_T& info) {
  answered = find(info.service_contexts, ANSWERS);
  return true;
}
CORBA::Boolean receive_request(omni::omniInterceptors::serverReceiveRequest_T::info_T& info) {
  asked = find(info.giop_s.service_contexts(), ASKS);
  if (asked) ++seen;
  return true;
}
CORBA::Boolean send_reply(omni::omniInterceptors::serverSendReply_T::info_T& info) {
  if (!asked) return true;
  std::reverse(asked->begin(), asked->end());
  add(info.giop_s.service_contexts(), ANSWERS, *asked);
  asked.reset();
  return true;
}

}  // namespace

void start() {
  omni::omniInterceptors* all = omniORB::getInterceptors();
  all->clientSendRequest.add(send_request);
  all->clientReceiveReply.add(receive_reply);
  all->serverReceiveRequest.add(receive_request);
  all->serverSendReply.add(send_reply);
  // None for exceptions: omniORB 4.2 works out their size before it asks, so that a context makes the message longer than it says.
}

}  // namespace tracing
