//! A made-up run: rows of every experiment, computed from formulas. **Nothing here was measured.** The same rows come out
//! every time; they only have the shape of a real run, so that the page can be tested and looked at.

use serde_json::{Value, json};

/// Makes rows that look measured: figures scatter a little, the same way in every run.
struct Sample {
    rows: Vec<Value>,
    state: u64,
}

/// Name, messaging, throughput at best in Gbit/s for scalars and structs, microseconds of a null call on one core.
const SYSTEMS: &[(&str, &str, f64, f64, f64)] = &[
    ("raw", "none", 60.0, 60.0, 12.0),
    ("framed", "none", 57.0, 57.0, 12.3),
    ("ipc", "none", 59.0, 59.0, 12.1),
    ("zorb", "giop", 55.0, 48.0, 12.9),
    ("omniorb", "giop", 50.0, 10.5, 12.6),
    ("jacorb", "giop", 11.0, 8.8, 30.4),
    ("tirpc", "xdr", 34.0, 5.2, 14.1),
    ("tirpc-opaque", "xdr", 38.0, 36.0, 14.0),
    ("tonic", "grpc", 17.0, 4.4, 28.5),
    ("capnp", "capnp", 26.0, 14.0, 18.7),
];

const PINS: &[&str] = &["same", "split", "none"];

/// The content of `machine.json`.
pub(crate) fn machine() -> String {
    json!({
        "date": "2001-02-03T04:05:06Z", "kernel": "0.0.0-sample", "cpu": "a processor that does not exist (sample data)",
        "cores": 2, "memory_gib": 23.5, "load": 0.07, "congestion_control": "reno", "commit": "0000000",
        "peers": {"omniorb": "4.3.0", "jacorb": "3.9", "tonic": "0.14", "capnp": "0.21", "tirpc": "1.3.3"},
    })
    .to_string()
}

/// The content of `results.jsonl`.
pub(crate) fn results() -> String {
    let mut sample = Sample { rows: Vec::new(), state: 1 };
    sample.ttcp();
    sample.profile();
    sample.rtt();
    sample.cube();
    sample.white_box();
    sample.counts();
    sample.size();
    sample.demux();
    sample.first_call();
    sample.concurrency();
    sample.connections();
    sample.images();
    sample.rows.iter().map(|row| format!("{row}\n")).collect()
}

impl Sample {
    /// A number near `value`.
    fn near(&mut self, value: f64) -> f64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let scatter = (self.state >> 40) as f64 / f64::from(1 << 24) - 0.5;
        (value * (1.0 + scatter * 0.06) * 1e4).round() / 1e4
    }

    /// A row with the fields that all have, and `more`.
    fn row(&mut self, experiment: &str, system: &str, transport: &str, pin: &str, more: Value) {
        let messaging = SYSTEMS.iter().find(|(name, ..)| *name == system).map_or("giop", |system| system.1);
        let mut row = json!({
            "experiment": experiment, "system": system, "transport": transport, "messaging": messaging,
            "type": "null", "size": 0, "pin": pin, "ratio_to_raw": null, "ratio_low": null, "ratio_high": null,
            "command": format!("zorb bench {experiment} --pin {pin} --peers omniorb,jacorb,tirpc,tonic,capnp"),
        });
        let (Value::Object(fields), Value::Object(more)) = (&mut row, more) else { panic!("objects") };
        fields.extend(more);
        self.rows.push(row);
    }

    fn ttcp(&mut self) {
        let types = [("octet", 1.0), ("char", 1.0), ("short", 0.98), ("long", 0.97), ("double", 0.99)];
        let types = types.into_iter().chain([("struct", 0.0), ("struct32", 0.0)]);
        for (kind, factor) in types {
            for &(system, _, scalar, structs, _) in SYSTEMS {
                for exponent in 10..=24 {
                    let size = f64::from(1 << exponent);
                    let peak = if factor > 0.0 { scalar * factor } else { structs };
                    let cache = if exponent > 21 { 0.8 } else { 1.0 };
                    let rate = self.near(peak * cache * size / (size + 22_000.0));
                    let cost = self.near(14.0 / rate);
                    let ratio = (system != "raw").then(|| self.near(60.0 / peak));
                    let more = json!({
                        "type": kind, "size": size as u64, "gbit_s": rate, "sender_gbit_s": rate * 1.01,
                        "cpu_s_per_gib": cost, "sender_cpu_s_per_gib": cost * 0.4, "receiver_cpu_s_per_gib": cost * 0.6,
                        "ratio_to_raw": ratio, "ratio_low": ratio.map(|ratio| ratio * 0.98),
                        "ratio_high": ratio.map(|ratio| ratio * 1.02), "command": "zorb ttcp run --pin same",
                    });
                    self.row("ttcp", system, "tcp", "same", more);
                }
            }
        }
    }

    fn profile(&mut self) {
        let functions = [
            ("kernel-copies", "_copy_from_iter", 0.4),
            ("kernel", "tcp_sendmsg_locked", 0.2),
            ("program", "bench::BinStruct::operator>>=", 0.15),
            ("copies", "memcpy", 0.1),
            ("kernel", "others", 0.1),
            ("program", "others", 0.05),
        ];
        for kind in ["long", "struct"] {
            for &(system, ..) in SYSTEMS {
                for (side, factor) in [("sender", 1.0), ("receiver", 1.2)] {
                    for (group, function, share) in functions {
                        let more = json!({
                            "type": kind, "size": 131_072, "side": side, "group": group, "function": function,
                            "cpu_s_per_gib": self.near(0.3 * factor * share), "share": share,
                            "command": "zorb ttcp run --profile --pin split",
                        });
                        self.row("profile", system, "tcp", "split", more);
                    }
                }
            }
        }
    }

    fn rtt(&mut self) {
        for &pin in PINS {
            for &(system, _, _, structs, null) in SYSTEMS {
                if system == "tirpc-opaque" || system == "framed" {
                    continue;
                }
                for transport in ["tcp", "unix"] {
                    if transport == "unix" && !matches!(system, "raw" | "zorb" | "omniorb") {
                        continue;
                    }
                    for (kind, size) in [("null", 0), ("octet", 1024), ("octet", 8192), ("octet", 65536)] {
                        let wake = if pin == "same" { 0.0 } else { 41.0 };
                        let base = null * if transport == "unix" { 0.68 } else { 1.0 };
                        let raw = 12.0 + f64::from(size) / 4_500.0;
                        let p50 = self.near(base + wake + f64::from(size) / (structs * 60.0 + 900.0));
                        let p99 = self.near(p50 * if pin == "none" { 2.1 } else { 1.4 });
                        let ratio = (pin == "same").then(|| self.near(p50 / raw).max(1.001));
                        let more = json!({
                            "type": kind, "size": size, "p50_us": p50, "p99_us": p99, "ratio_to_raw": ratio,
                            "ratio_low": ratio.map(|ratio| ratio * 0.975), "ratio_high": ratio.map(|ratio| ratio * 1.03),
                        });
                        self.row("rtt", system, transport, pin, more);
                    }
                }
            }
        }
    }

    fn cube(&mut self) {
        let kinds = [
            ("null", 0, 1.0),
            ("short", 2, 0.99),
            ("long", 4, 0.99),
            ("octet", 1, 0.99),
            ("struct", 12, 0.97),
        ];
        let sequences =
            [("octets", 4, 0.96), ("octets", 4096, 0.85), ("longs", 4, 0.96), ("longs", 4096, 0.8)];
        for (kind, size, factor) in kinds.into_iter().chain(sequences) {
            for &(system, _, _, _, null) in SYSTEMS {
                for transport in ["tcp", "unix"] {
                    if transport == "unix" && !matches!(system, "zorb" | "omniorb") || system == "framed" {
                        continue;
                    }
                    let faster = if transport == "unix" { 1.4 } else { 1.0 };
                    let calls = self.near(1e6 / null * factor * faster);
                    self.row(
                        "cube",
                        system,
                        transport,
                        "same",
                        json!({"type": kind, "size": size, "calls_s": calls}),
                    );
                }
            }
        }
    }

    fn white_box(&mut self) {
        for (kind, size) in [("null", 0), ("octet", 64), ("octet", 1024), ("octet", 8192)] {
            for (side, step, name) in zorb_bench::whitebox::named_steps() {
                let grows = if name.contains("written") || name.contains("call") {
                    f64::from(size) * 0.2
                } else {
                    0.0
                };
                let usual = if name.contains("system call") { 4_000.0 } else { 150.0 };
                let time = self.near(usual + grows);
                let more = json!({
                    "type": kind, "size": size, "side": side, "step": step, "name": name, "p50_ns": time,
                    "share": time / 20_000.0, "command": "zorb bench rtt --probes --pin same",
                });
                self.row("whitebox", "zorb", "tcp", "same", more);
            }
        }
    }

    fn counts(&mut self) {
        for (kind, size) in [("null", 0), ("octet", 1024), ("octet", 65536), ("struct", 2400)] {
            for (side, copied, allocations) in [("client", 60.0, 1.0), ("server", 24.0, 3.0)] {
                let more = json!({
                    "type": kind, "size": size, "side": side, "system_calls": 2.0,
                    "octets_copied": copied + f64::from(size % 65536), "allocations": allocations,
                    "octets_allocated": allocations * 96.0 + f64::from(size), "command": "zorb bench rtt --probes",
                });
                self.row("counts", "zorb", "tcp", "same", more);
            }
        }
    }

    fn size(&mut self) {
        for exponent in 2..=11 {
            let size = f64::from(1 << exponent);
            let raw = self.near(12.0 + size / 2_000.0);
            let call = raw + self.near(0.9);
            let octets = json!({"type": "octet", "size": size as u64, "p50_us": raw, "p99_us": raw * 1.4, "ratio_to_raw": 1.0});
            self.row("size", "raw", "tcp", "same", octets);
            let octets = json!({
                "type": "octet", "size": size as u64, "p50_us": call, "p99_us": call * 1.4, "ratio_to_raw": call / raw,
                "ratio_low": call / raw * 0.99, "ratio_high": call / raw * 1.01,
            });
            self.row("size", "zorb", "tcp", "same", octets);
        }
    }

    fn demux(&mut self) {
        let lookups = [("linear", 0.006), ("hashed", 0.0), ("perfect", 0.0), ("numbered", 0.0)];
        for style in ["twoway", "oneway"] {
            let base = if style == "twoway" { 12.6 } else { 4.1 };
            for (lookup, each) in lookups {
                for operations in [1, 10, 100, 1_000] {
                    for position in ["first", "last"] {
                        let searched = if position == "last" { f64::from(operations) } else { 1.0 };
                        let p50 = self.near(base + each * searched);
                        let more = json!({
                            "operations": operations, "position": position, "lookup": lookup, "style": style,
                            "p50_us": p50, "p99_us": p50 * 1.3, "server_us": p50 * 0.45,
                        });
                        self.row("demux", "zorb", "tcp", "same", more);
                    }
                }
                for iterations in [1, 100, 500, 1_000] {
                    let client = self.near(f64::from(iterations) * 0.1 * (base + each * 100.0));
                    let gain =
                        (lookup != "linear").then(|| self.near(if style == "twoway" { 4.5 } else { 12.8 }));
                    let more = json!({
                        "operations": 100, "position": "last", "lookup": lookup, "style": style,
                        "iterations": iterations, "server_ms": client * 0.45, "client_ms": client,
                        "gain_percent": gain, "gain_low": gain.map(|gain| gain - 0.5),
                        "gain_high": gain.map(|gain| gain + 0.5),
                        "command": "zorb bench demux --pin same --iterations 1,100,500,1000",
                    });
                    self.row("demux", "zorb", "tcp", "same", more);
                }
            }
            for system in ["zorb", "omniorb", "jacorb"] {
                for objects in [1, 100, 10_000, 1_000_000] {
                    for pick in ["same", "random"] {
                        let misses = if pick == "random" { f64::from(objects).log10() * 0.15 } else { 0.0 };
                        let p50 = self.near(base * if system == "jacorb" { 2.4 } else { 1.0 } + misses);
                        let more = json!({
                            "objects": objects, "pick": pick, "style": style, "p50_us": p50,
                            "lookup": (system == "zorb").then_some("perfect"),
                            "p99_us": p50 * 1.3,
                        });
                        self.row("demux", system, "tcp", "same", more);
                    }
                }
            }
        }
    }

    fn first_call(&mut self) {
        for (phase, factor) in [("connection", 6.5), ("interface", 1.5), ("object", 1.2), ("later", 1.0)] {
            for &(system, _, _, _, null) in SYSTEMS {
                if matches!(system, "framed" | "ipc" | "tirpc-opaque")
                    || (system == "raw" && factor > 1.0 && factor < 6.0)
                {
                    continue;
                }
                let p50 = self.near(null * factor);
                self.row(
                    "firstcall",
                    system,
                    "tcp",
                    "same",
                    json!({"phase": phase, "p50_us": p50, "p99_us": p50 * 1.6}),
                );
            }
        }
    }

    fn concurrency(&mut self) {
        for &pin in PINS {
            for &(system, _, _, _, null) in SYSTEMS {
                if matches!(system, "framed" | "ipc" | "tirpc-opaque") {
                    continue;
                }
                for callers in [1, 8, 64, 512] {
                    let together =
                        f64::from(callers).min(7.0 - null / 12.0) * if callers > 64 { 0.8 } else { 1.0 };
                    let calls = self.near(1e6 / null * together * 0.3);
                    self.row(
                        "concurrency",
                        system,
                        "tcp",
                        pin,
                        json!({"callers": callers, "calls_s": calls}),
                    );
                }
            }
        }
    }

    fn connections(&mut self) {
        let memory = [("zorb", 5.2), ("omniorb", 18.5), ("tonic", 16.4), ("jacorb", 113.0)];
        for (system, kib) in memory {
            for connections in [10, 100, 1_000, 10_000] {
                let kib = self.near(kib * (1.0 + 8.0 / f64::from(connections)));
                self.row(
                    "connections",
                    system,
                    "tcp",
                    "same",
                    json!({"connections": connections, "kib_per_connection": kib}),
                );
                let p50 =
                    self.near(SYSTEMS.iter().find(|known| known.0 == system).map_or(1.0, |known| known.4));
                let more = json!({"connections": connections, "p50_us": p50, "p99_us": p50 * 1.7});
                self.row("connections", system, "tcp", "same", more);
            }
        }
    }

    fn images(&mut self) {
        for (system, _, _, _, null) in &SYSTEMS[3..6] {
            let p50 = self.near(null * 1.2);
            self.row("images", system, "tcp", "same", json!({"calls_s": 1e6 / p50}));
        }
    }
}
