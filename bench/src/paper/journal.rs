//! What is kept of a run beside its rows, and what of both a later call goes on from. Nothing here reads or writes: texts
//! come in, and what they are worth comes out.
//!
//! ```text
//! steps.jsonl    {"scale":"quick","peers":["omniorb"],"machine":{…}}                    which run this is
//!                {"step":"bytes","command":"zorb ttcp run …","rows":36,"seconds":31.5}  a step that has ended
//! results.jsonl  {"experiment":"ttcp", … ,"command":"zorb ttcp run …"}                  a row; its command is its step's
//! ```
//!
//! A step that has no line in `steps.jsonl` has not ended, and the rows that it has left are measured again. So are
//! those of a step of which rows are missing. A line without its end is what a full disk or a power cut leaves, and
//! counts as not written. Rows that are no step's, which somebody has added, stay.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::Scale;
use crate::machine::Machine;

/// Which run a directory holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// How much of everything.
    pub scale: Scale,
    /// Peers that take part.
    pub peers: Vec<String>,
    /// Where, and of which sources.
    pub machine: Machine,
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its name.
    pub step: String,
    /// The command that repeats it, which its rows have.
    pub command: String,
    /// How many rows it has left.
    pub rows: usize,
    /// How long it took.
    pub seconds: f64,
    /// What went wrong with single systems, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The part of the processors' time that the host took meanwhile, 0 to 1.
    #[serde(default)]
    pub taken: f64,
    /// Why nothing of it could be measured. It has not ended then: a later call tries it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl Ended {
    /// What went wrong, each with the step that it went wrong in.
    pub(super) fn failures(&self) -> Vec<String> {
        self.faults.iter().map(|fault| format!("{}: {fault}", self.step)).collect()
    }
}

impl Head {
    /// What `now` has otherwise, so that its rows do not belong beside those of this run; in words.
    pub fn differences(&self, now: &Head) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, here: &str, now: &str| {
            if here != now {
                let shown = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
                differences.push(format!("{what}: {} there, {} now", shown(here), shown(now)));
            }
        };
        compare("scale", self.scale.name(), now.scale.name());
        compare("peers", &self.peers.join(","), &now.peers.join(","));
        for peer in self.peers.iter().filter(|peer| now.peers.contains(peer)) {
            let version = |head: &Head| head.machine.peers.get(peer).cloned().unwrap_or_default();
            compare(peer, &version(self), &version(now));
        }
        let (there, here) = (&self.machine, &now.machine);
        compare("commit", &there.commit, &here.commit);
        let built = |machine: &Machine| if machine.probes { "built in" } else { "" };
        compare("time probes", built(there), built(here));
        compare("processor", &there.cpu, &here.cpu);
        compare("cores", &there.cores.to_string(), &here.cores.to_string());
        compare("kernel", &there.kernel, &here.kernel);
        compare("congestion control", &there.congestion_control, &here.congestion_control);
        differences
    }

    /// The first line of `steps.jsonl`, if it describes a run.
    pub(super) fn of(steps: &[u8]) -> Option<Head> {
        serde_json::from_slice(lines(steps).next()?).ok()
    }
}

/// What a directory's files are worth.
#[derive(Debug, PartialEq)]
pub(super) struct Kept {
    /// Steps that need not be done again.
    pub(super) ended: Vec<Ended>,
    /// The lines of `results.jsonl` that stay.
    pub(super) results: Vec<u8>,
    /// How many do not.
    pub(super) dropped: usize,
}

/// Judges the contents of `steps.jsonl` and `results.jsonl`, for a run whose steps have these commands.
pub(super) fn examine(steps: &[u8], results: &[u8], commands: &[String]) -> Kept {
    let mut ended = ended(steps);
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    for command in lines(results).filter_map(command_of) {
        *rows.entry(command).or_default() += 1;
    }
    // One that this run does not have stays as its rows do.
    ended.retain(|step| {
        let rows = rows.get(&step.command).copied().unwrap_or(0);
        step.left_out.is_none() && (!commands.contains(&step.command) || rows == step.rows)
    });
    let stays = |line: &[u8]| match command_of(line) {
        Some(command) => !commands.contains(&command) || ended.iter().any(|step| step.command == command),
        None => true,
    };
    let kept: Vec<&[u8]> = lines(results).filter(|line| stays(line)).collect();
    let all = results.split(|&octet| octet == b'\n').filter(|line| !line.is_empty()).count();
    let dropped = all - kept.iter().filter(|line| !line.is_empty()).count();
    Kept { ended, results: kept.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect(), dropped }
}

/// The steps that a `steps.jsonl` names, each as it was done last.
pub(super) fn ended(steps: &[u8]) -> Vec<Ended> {
    let mut ended: Vec<Ended> = Vec::new();
    for step in lines(steps).skip(1).filter_map(|line| serde_json::from_slice::<Ended>(line).ok()) {
        ended.retain(|other| other.command != step.command);
        ended.push(step);
    }
    ended
}

/// The lines that have an end.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&octet| octet == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

/// The field `command` of a row, if the line is one that has it.
fn command_of(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Tag {
        command: String,
    }
    Some(serde_json::from_slice::<Tag>(line).ok()?.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(command: &str, number: u32) -> String {
        format!("{{\"experiment\":\"rtt\",\"size\":{number},\"command\":\"{command}\"}}\n")
    }

    fn end(command: &str, rows: usize) -> String {
        let ended = Ended {
            step: command.to_owned(),
            command: command.to_owned(),
            rows,
            seconds: 1.5,
            faults: Vec::new(),
            taken: 0.0,
            left_out: None,
        };
        serde_json::to_string(&ended).unwrap() + "\n"
    }

    fn examined(steps: &str, results: &str) -> (Vec<String>, String, usize) {
        let commands = ["one", "two", "three"].map(str::to_owned);
        let steps = format!("head\n{steps}");
        let kept = examine(steps.as_bytes(), results.as_bytes(), &commands);
        let ended = kept.ended.into_iter().map(|step| step.command).collect();
        (ended, String::from_utf8(kept.results).unwrap(), kept.dropped)
    }

    #[test]
    fn what_has_ended_stays_and_what_has_not_goes() {
        let one = row("one", 1) + &row("one", 2);
        let two = row("two", 1);
        let (ended, results, dropped) = examined(&end("one", 2), &(one.clone() + &two));
        assert_eq!((ended, results, dropped), (vec!["one".to_owned()], one.clone(), 1));
        let (ended, results, dropped) = examined("", &(one.clone() + &two));
        assert_eq!((ended.len(), results.as_str(), dropped), (0, "", 3));
        let both = end("one", 2) + &end("two", 1);
        let (ended, results, dropped) = examined(&both, &(one.clone() + &two));
        assert_eq!((ended.len(), results, dropped), (2, one + &two, 0));
    }

    #[test]
    fn a_step_of_which_rows_are_missing_or_too_many_has_not_ended() {
        for rows in [1, 3] {
            let all: String = (0..rows).map(|number| row("one", number)).collect();
            let (ended, results, dropped) = examined(&end("one", 2), &all);
            assert_eq!((ended.len(), results.as_str(), dropped), (0, "", rows as usize));
        }
        let (ended, ..) = examined(&end("one", 0), "");
        assert_eq!(ended, ["one"], "every system may have failed");
        let (ended, ..) = examined(&end("of another program", 7), "");
        assert_eq!(ended, ["of another program"], "which may be run again");
    }

    #[test]
    fn a_step_that_was_left_out_is_told_and_tried_again() {
        let left_out =
            end("two", 0).replace("\"faults\"", "\"x\"").replace('}', ",\"left_out\":\"no root\"}");
        let steps = end("one", 1) + &left_out;
        assert_eq!(examined(&steps, &row("one", 1)).0, ["one"]);
        assert_eq!(crate::paper::left_out(format!("head\n{steps}").as_bytes()), ["two: no root"]);
        let done = steps + &end("two", 0);
        assert_eq!(crate::paper::left_out(format!("head\n{done}").as_bytes()), [] as [String; 0]);
    }

    #[test]
    fn every_cut_loses_what_it_cuts_and_no_more() {
        let (one, two) = (row("one", 1) + &row("one", 2), row("two", 1));
        let results = one.clone() + &two;
        let steps = end("one", 2) + &end("two", 1);
        for cut in 0..results.len() {
            let (ended, kept, _) = examined(&steps, &results[..cut]);
            let whole = if cut < one.len() { 0 } else { 1 };
            assert_eq!(ended.len(), whole, "{cut}");
            assert_eq!(kept, if whole == 1 { one.as_str() } else { "" }, "{cut}");
        }
        for cut in 0..steps.len() {
            let (ended, kept, _) = examined(&steps[..cut], &results);
            let whole = usize::from(cut >= end("one", 2).len());
            assert_eq!((ended.len(), kept), (whole, if whole == 1 { one.clone() } else { String::new() }));
        }
    }

    #[test]
    fn what_somebody_has_added_stays() {
        let added =
            row("zorb bench concurrency --json", 1) + "{\"experiment\":\"weather\"}\n\nnot a row at all\n";
        let (ended, results, dropped) =
            examined(&end("one", 1), &(added.clone() + &row("one", 1) + "{\"exp"));
        assert_eq!((ended.len(), results, dropped), (1, added + &row("one", 1), 1));
    }

    #[test]
    fn a_step_that_was_done_again_counts_as_it_was_last() {
        let steps = end("one", 7) + &end("one", 1);
        assert_eq!(examined(&steps, &row("one", 1)).0, ["one"]);
    }

    #[test]
    fn another_run_is_told_apart_in_words() {
        let machine = Machine::look(std::path::Path::new("/nonexistent"));
        let peers = ["omniorb".to_owned()].to_vec();
        let there = Head { scale: Scale::Quick, peers, machine };
        assert_eq!(there.differences(&there.clone()), [] as [String; 0]);
        let mut later = there.clone();
        later.machine.date = "2222-02-22T22:22:22Z".to_owned();
        later.machine.load += 7.0;
        assert_eq!(there.differences(&later), [] as [String; 0], "a run goes on another day");
        let mut other = later.clone();
        other.scale = Scale::Full;
        other.peers.clear();
        other.machine.commit = "0123".to_owned();
        other.machine.cores += 1;
        let differences = there.differences(&other);
        assert_eq!(differences.len(), 4, "{differences:?}");
        assert_eq!(differences[..2], ["scale: quick there, full now", "peers: omniorb there, none now"]);
        let mut newer = there.clone();
        newer.machine.peers.insert("omniorb".to_owned(), "5".to_owned());
        assert_eq!(there.differences(&newer), ["omniorb: none there, 5 now"]);
    }

    #[test]
    fn a_head_is_read_back() {
        let machine = Machine::look(std::path::Path::new("/nonexistent"));
        let head = Head { scale: Scale::Full, peers: Vec::new(), machine };
        let line = serde_json::to_string(&head).unwrap() + "\n";
        assert_eq!(Head::of(line.as_bytes()), Some(head));
        assert_eq!(Head::of(&line.as_bytes()[..line.len() - 1]), None, "cut");
        assert_eq!(Head::of(b""), None);
    }
}
