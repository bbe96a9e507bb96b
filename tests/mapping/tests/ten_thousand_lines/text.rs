//! Much IDL, of two densities: what the time and the instructions are measured on that compiling takes, here and in
//! `tests/instructions/compiling`.

use std::fmt::Write;

/// As many lines as are asked for, of modules that `area` writes.
pub(crate) fn idl(least: usize, area: fn(&mut String, usize)) -> String {
    let mut text = String::from("#pragma prefix \"zorb.test\"\n");
    let mut lines = 1;
    for number in 0.. {
        if lines >= least {
            break;
        }
        let before = text.len();
        area(&mut text, number);
        lines += text[before..].lines().count();
    }
    text
}

/// IDL as people write it: with comments, and a line for each parameter. Of everything it has at least as much to a
/// hundred lines as the OMG's own service specifications, of which the 71 files that omniORB ships have, to 10,000 lines:
/// 1,097 operations, 209 attributes, 414 interfaces, 146 structs, 194 exceptions, 73 enums, 13 unions.
pub(crate) fn as_written(text: &mut String, area: usize) {
    let _ = write!(
        text,
        "// Devices of area {area}: where they are, what they keep, and who may move them.
module Area{area} {{
  enum State {{ idle, running, stopped }};

  // Where a device is, in metres from the area's corner.
  struct Position {{
    double x;
    double y;
    double z;
  }};
  typedef sequence<Position> Positions;

  struct Record {{
    string name;
    State mode;
    Position place;
    sequence<octet> data;
  }};
  typedef sequence<Record> Records;

  exception NotFound {{ string name; }};
  exception Refused {{ string why; long code; }};

"
    );
    if area.is_multiple_of(8) {
        let _ = writeln!(
            text,
            "  union Choice switch (State) {{ case idle: long number; default: Record all; }};\n"
        );
    }
    for device in 0..4 {
        let base = if device == 0 { "" } else { " : Device0" };
        let _ = writeln!(text, "  // Device {device} of the area.\n  interface Device{device}{base} {{");
        if device < 3 {
            let _ = writeln!(text, "    readonly attribute State state{device};\n");
        }
        let _ = write!(
            text,
            "    // Moves it. It stops when something is in its way.
    Position move{device}(
      in Position where,
      in string who,
      out long steps)
      raises (NotFound, Refused);

    // Keeps these records, and says how many there are.
    unsigned long store{device}(in Records what) raises (Refused);

    // Ends what it does.
    void stop{device}();
  }};

"
        );
    }
    *text += "};\n\n";
}

/// IDL as dense as it gets: hardly a line that is not a member or an operation, most of which take and raise
/// constructed types.
pub(crate) fn densest(text: &mut String, area: usize) {
    let _ = write!(
        text,
        "module Area{area} {{
  const long LIMIT = {area};
  enum State {{ idle, running, stopped }};
  struct Position {{ double x; double y; double z; }};
  typedef sequence<Position> Positions;
  typedef sequence<octet> Octets;
  struct Record {{
    string name;
    long id;
    State mode;
    Position place;
    Octets data;
    sequence<string> tags;
  }};
  typedef sequence<Record> Records;
  union Choice switch (State) {{
    case idle: long number;
    case running: string text;
    default: Record all;
  }};
  exception NotFound {{ string name; }};
  exception Refused {{ string why; long code; }};
"
    );
    for device in 0..4 {
        let base = if device == 0 { "" } else { " : Device0" };
        let _ = write!(
            text,
            "  interface Device{device}{base} {{
    readonly attribute State state{device};
    attribute string label{device};
    oneway void notify{device}(in Octets data);
"
        );
        for step in 0..6 {
            let _ = write!(
                text,
                "    // Moves it, step {step}.
    Position move{device}_{step}(in Position where, in string who, out long steps) raises (NotFound, Refused);
    void store{device}_{step}(in Records what, inout Choice how) raises (Refused);
"
            );
        }
        *text += "  };\n";
    }
    *text += "};\n";
}
