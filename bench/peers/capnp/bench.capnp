# What the Cap'n Proto peer serves: round trips, the cubing service, and the streams of a flood.
@0xc7a3c6f5d2b01996;

struct Mixed {
  o @0 :UInt8;
  l @1 :Int32;
  s @2 :Int16;
}

# 16 octets: no padding.
struct BinStruct {
  s @0 :Int16;
  c @1 :UInt8;
  l @2 :Int32;
  o @3 :UInt8;
  d @4 :Float64;
}

struct BinStruct32 {
  s @0 :Int16;
  c @1 :UInt8;
  l @2 :Int32;
  o @3 :UInt8;
  d @4 :Float64;
  filler @5 :UInt64;
}

interface Bench {
  ping @0 ();
  echo @1 (value :Data) -> (value :Data);

  cubeShort @2 (value :Int16) -> (value :Int16);
  cubeLong @3 (value :Int32) -> (value :Int32);
  cubeOctet @4 (value :UInt8) -> (value :UInt8);
  cubeStruct @5 (value :Mixed) -> (value :Mixed);
  cubeOctets @6 (value :Data) -> (value :Data);
  cubeLongs @7 (value :List(Int32)) -> (value :List(Int32));

  expect @8 (element :Text, payload :UInt64, buffers :UInt32);
  # There is no character but in Text, which would have to be UTF-8.
  sendOctets @9 (buffer :Data) -> stream;
  sendChars @10 (buffer :Data) -> stream;
  sendShorts @11 (buffer :List(Int16)) -> stream;
  sendLongs @12 (buffer :List(Int32)) -> stream;
  sendDoubles @13 (buffer :List(Float64)) -> stream;
  sendStructs @14 (buffer :List(BinStruct)) -> stream;
  sendStructs32 @15 (buffer :List(BinStruct32)) -> stream;
  sendString @16 (buffer :Text) -> stream;
  received @17 () -> (executed :UInt32, fault :Text);
}
