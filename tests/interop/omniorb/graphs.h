// Values of the valuetypes of beyond.idl and hidden.idl: the graphs of ../cases.md, their text, and the factories.

#pragma once

#include <map>
#include <sstream>
#include <string>
#include "beyond.hh"
#include "hidden.hh"

namespace graphs {

using beyond::Node;
using CORBA::Long;

// omniidl leaves the counting of references out where a valuetype has an abstract base or supports an interface.
class Circle : public virtual OBV_beyond::Circle, public virtual CORBA::DefaultValueRefCountBase {};
class Square : public virtual OBV_beyond::Square, public virtual CORBA::DefaultValueRefCountBase {};
class NamedValue : public virtual OBV_beyond::NamedValue, public virtual CORBA::DefaultValueRefCountBase {
public:
  NamedValue() {}
  explicit NamedValue(const char* t) { text(t); }
  char* name() override { return CORBA::string_dup(text()); }
};

// ----------------------------------------------------------------------- making

inline Node* link(Node* made, Long number, Node* left, Node* right) {
  made->number(number);
  made->left(left);
  made->right(right);
  return made;
}
inline Node* node(Long number, Node* left = nullptr, Node* right = nullptr) {
  return link(new OBV_beyond::Node, number, left, right);
}
inline beyond::NodeSeq seq(std::initializer_list<Node*> nodes) {
  beyond::NodeSeq made;
  made.length(nodes.size());
  CORBA::ULong at = 0;
  for (Node* each : nodes) {
    CORBA::add_ref(each);
    made[at++] = each;
  }
  return made;
}
inline beyond::Marked* mark(beyond::Marked* made, const char* text, std::initializer_list<Node*> others) {
  made->mark(text);
  made->others(seq(others));
  return made;
}
inline Node* tree(Long number) { return number < 16 ? node(number, tree(2 * number), tree(2 * number + 1)) : nullptr; }

const CORBA::ULong GRAPHS = 11;

inline Node* graph(CORBA::ULong k) {
  switch (k) {
    case 0: return nullptr;
    case 1: return node(1);
    case 2: { Node* twice = node(20); return node(2, twice, twice); }
    case 3: { Node* self = node(3); self->left(self); return self; }
    case 4: {
      Node* last = node(44);
      Node* first = last;
      for (Long number = 43; number >= 40; --number) first = node(number, first);
      last->left(first);
      return first;
    }
    case 5: return tree(1);
    case 6: {
      auto* made = new OBV_beyond::Marked;
      Node* left = node(60);
      link(made, 6, left, nullptr);
      return mark(made, "marked", {made, nullptr, left, left});
    }
    case 7: {
      auto* made = new OBV_beyond::Heavier;
      auto* left = new OBV_beyond::Marked;
      link(left, 70, made, nullptr);
      mark(left, "inner", {});
      link(made, 7, left, left);
      mark(made, "heavy", {left, nullptr});
      made->weight(2.5);
      return made;
    }
    case 8: {
      Node* made = nullptr;
      for (Long number = 91; number >= 80; --number) made = node(number, made, made);
      return made;
    }
    case 9: {
      Node* made = nullptr;
      for (Long number = 159; number >= 100; --number) {
        if (number % 3) { made = node(number, nullptr, made); continue; }
        auto* marked = new OBV_beyond::Marked;
        link(marked, number, nullptr, made);
        made = mark(marked, ("m" + std::to_string(number)).c_str(), {made});
      }
      return made;
    }
    default: {
      auto* made = new OBV_beyond::Firm;
      link(made, 10, node(100), nullptr);
      made->hardness(-7);
      return made;
    }
  }
}

inline beyond::Leaf* leaf(Long number, const char* text) {
  auto* made = new OBV_beyond::Leaf;
  made->number(number);
  made->text(text);
  return made;
}

// Values of types that their receiver does not know.
inline Node* hidden_value(CORBA::ULong k) {
  Node* left = node(30);
  switch (k) {
    case 0: {
      auto* made = new OBV_hidden::Plainly;
      link(made, 300, left, node(35));
      made->depth(1);
      made->more("more");
      return made;
    }
    case 1: {
      auto* made = new OBV_hidden::Twice;
      link(made, 301, left, left);
      made->depth(2);
      made->more("twice");
      made->others(seq({node(31), node(32)}));
      return made;
    }
    case 2: {
      auto* made = new OBV_hidden::Deeply;
      link(made, 302, left, nullptr);
      mark(made, "deep", {left, node(33)});
      made->weight(0.5);
      made->thing(leaf(34, "gone"));
      made->depth(3);
      return made;
    }
    case 3: {
      auto* made = new OBV_beyond::Marked;
      Node* within = hidden_value(1);
      link(made, 303, within, within);
      return mark(made, "around", {within, made});
    }
    default: {
      auto* made = new OBV_hidden::Firmly;
      link(made, 304, left, nullptr);
      made->depth(4);
      return made;
    }
  }
}

// --------------------------------------------------------------------- as text

inline std::string quarters(double value) { return std::to_string(long(value * 4)) + "/4"; }

class Walk {
public:
  std::ostringstream out;

  void value(CORBA::ValueBase* v) {
    if (!v) { out << "null"; return; }
    const size_t next = seen.size() + 1;
    auto [at, fresh] = seen.emplace(v, next);
    if (!fresh) { out << '#' << at->second; return; }
    const std::string number = "#" + std::to_string(next) + "{";
    if (auto* x = beyond::Heavier::_downcast(v)) { out << "Heavier" << number; marked(x); out << ", " << quarters(x->weight()); }
    else if (auto* x = beyond::Marked::_downcast(v)) { out << "Marked" << number; marked(x); }
    else if (auto* x = beyond::Firm::_downcast(v)) { out << "Firm" << number; links(x); out << ", " << x->hardness(); }
    else if (auto* x = beyond::Node::_downcast(v)) { out << "Node" << number; links(x); }
    else if (auto* x = beyond::Leaf::_downcast(v)) out << "Leaf" << number << x->number() << ", " << x->text();
    else if (auto* x = beyond::Circle::_downcast(v)) out << "Circle" << number << quarters(x->radius());
    else if (auto* x = beyond::Square::_downcast(v)) { out << "Square" << number; value(x->corner()); out << ", " << x->side(); }
    else if (auto* x = beyond::BoxedText::_downcast(v)) out << "BoxedText" << number << x->_value();
    else if (auto* x = beyond::BoxedLongs::_downcast(v)) {
      out << "BoxedLongs" << number;
      for (CORBA::ULong i = 0; i < x->_value().length(); ++i) out << (i ? ", " : "") << x->_value()[i];
    }
    else if (auto* x = beyond::BoxedPair::_downcast(v)) out << "BoxedPair" << number << x->left() << ", " << x->right();
    else if (auto* x = beyond::BoxedLong::_downcast(v)) out << "BoxedLong" << number << x->_value();
    else if (auto* x = beyond::NamedValue::_downcast(v)) out << "NamedValue" << number << x->text();
    else if (auto* x = beyond::Holder::_downcast(v)) {
      out << "Holder" << number;
      value(x->text()); out << ", ";
      value(x->numbers()); out << ", ";
      value(x->both()); out << ", ";
      value(x->single()); out << ", ";
      value(x->link()); out << ", ";
      value(x->figure()); out << ", ";
      value(x->thing());
    }
    else out << "?" << number;
    out << '}';
  }

private:
  std::map<CORBA::ValueBase*, size_t> seen;

  void links(Node* x) {
    out << x->number() << ", ";
    value(x->left());
    out << ", ";
    value(x->right());
  }
  void marked(beyond::Marked* x) {
    links(x);
    out << ", " << x->mark() << ", [";
    const beyond::NodeSeq& others = x->others();
    for (CORBA::ULong i = 0; i < others.length(); ++i) { if (i) out << ", "; value(others[i]); }
    out << ']';
  }
};

// All of them together, so that what they share is seen.
inline std::string text(std::initializer_list<CORBA::ValueBase*> values) {
  Walk walk;
  bool first = true;
  for (CORBA::ValueBase* each : values) {
    if (!first) walk.out << "; ";
    first = false;
    walk.value(each);
  }
  return walk.out.str();
}

// ------------------------------------------------------------------- factories

template <class V> class Factory : public virtual CORBA::ValueFactoryBase {
public:
  CORBA::ValueBase* create_for_unmarshal() override { return new V; }
};

template <class V> void know(CORBA::ORB_ptr orb, const char* name) {
  CORBA::ValueFactoryBase_var old = orb->register_value_factory(("IDL:zorb.test/beyond/" + std::string(name) + ":1.0").c_str(), new Factory<V>);
}

// All types but those of hidden.idl, and boxes, which omniORB knows.
inline void register_factories(CORBA::ORB_ptr orb) {
  know<OBV_beyond::Leaf>(orb, "Leaf");
  know<OBV_beyond::Node>(orb, "Node");
  know<OBV_beyond::Marked>(orb, "Marked");
  know<OBV_beyond::Heavier>(orb, "Heavier");
  know<OBV_beyond::Firm>(orb, "Firm");
  know<Circle>(orb, "Circle");
  know<Square>(orb, "Square");
  know<OBV_beyond::Holder>(orb, "Holder");
  know<NamedValue>(orb, "NamedValue");
}

}  // namespace graphs
