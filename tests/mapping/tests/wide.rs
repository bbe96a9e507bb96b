//! Operations with more parameters than one tuple holds, called by message: blocking, waited for later, and oneway.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use zorb::{Call, Interface, Orb, SystemException};
use zorb_test_mapping::wide::wide::{Panel, PanelServant, Sheet, SheetServant};

struct Board {
    noted: Sender<Vec<i32>>,
}

/// The result, `text`, and 22 numbers.
#[rustfmt::skip]
type Back = (i32, String, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16);

#[rustfmt::skip]
impl PanelServant for Board {
    fn set(&self, _: &Call, p0: i32, p1: i32, p2: i32, p3: i32, p4: i32, p5: i32, p6: i32, p7: i32, p8: i32, p9: i32, p10: i32, p11: i32, p12: i32, p13: i32, p14: i32, p15: i32, p16: i32, p17: i32, p18: i32, p19: i32, wide: &str, other: Option<Panel>, p20: i32, p21: i32, p22: i32, p23: i32, p24: i32, p25: i32, p26: i32, p27: i32, text: &str) -> Result<Back, SystemException> {
        let sum = [p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27].iter().enumerate().map(|(at, value)| (at as i32 + 1) * value).sum();
        let text = format!("{wide}{text}{}", other.is_some());
        Ok((sum, text, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21))
    }

    fn note(&self, _: &Call, p0: i32, p1: i32, p2: i32, p3: i32, p4: i32, p5: i32, p6: i32, p7: i32, p8: i32, p9: i32, p10: i32, p11: i32, p12: i32, p13: i32, p14: i32, p15: i32, p16: i32, p17: i32, p18: i32, p19: i32, p20: i32, p21: i32, p22: i32, p23: i32, p24: i32) -> Result<(), SystemException> {
        let _ = self.noted.send(vec![p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24]);
        Ok(())
    }
}

#[test]
#[rustfmt::skip]
fn every_argument_and_result_has_its_place() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let (noted, notes) = channel();
    let root = server.root_poa().unwrap();
    let panel = root.activate::<Panel>(Arc::new(Board { noted })).unwrap();
    root.manager().activate().unwrap();
    let text = panel.as_object().to_string();
    let panel = Panel::from_object(client.string_to_object(&text).unwrap().unwrap());
    let weighted: i32 = (0..28).map(|at| (at + 1) * (at + 100)).sum();
    let blocking = panel.set(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, "wide", Some(&panel), 120, 121, 122, 123, 124, 125, 126, 127, "9texts").unwrap();
    let later = panel.set_async(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, "wide".into(), Some(panel.clone()), 120, 121, 122, 123, 124, 125, 126, 127, "9texts".into());
    for back in [blocking, later.wait().unwrap()] {
        let (sum, text, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21) = back;
        assert_eq!((sum, text.as_str()), (weighted, "wide9textstrue"));
        assert_eq!([r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21], std::array::from_fn(|at| at as i16));
    }
    let refused = panel.set(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, "widest", None, 120, 121, 122, 123, 124, 125, 126, 127, "").err().unwrap().to_string();
    assert!(refused.contains("BAD_PARAM") && refused.contains("wide"), "{refused}");
    panel.note(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24).unwrap();
    panel.note_async(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24).wait().unwrap();
    for _ in 0..2 {
        assert_eq!(notes.recv_timeout(Duration::from_secs(60)).unwrap(), (0..25).collect::<Vec<i32>>());
    }
}

struct Paper;

/// The first 24 of the results, and the others.
#[rustfmt::skip]
type Far = ((i32, String, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16, i16), (String, Option<Panel>));

impl SheetServant for Paper {
    #[rustfmt::skip]
    fn read(&self, _: &Call, add: i32, panel: Option<Panel>) -> Result<Far, SystemException> {
        let first = (add + 1, "text".to_owned(), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
        Ok((first, ("wide".to_owned(), panel)))
    }
}

#[test]
fn more_results_than_a_tuple_holds_come_in_tuples_of_tuples() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let root = server.root_poa().unwrap();
    let here = root.activate::<Sheet>(Arc::new(Paper)).unwrap();
    root.manager().activate().unwrap();
    let text = here.as_object().to_string();
    let there = Sheet::from_object(client.string_to_object(&text).unwrap().unwrap());
    for back in [here.read(4, None), there.read(4, None), there.read_async(4, None).wait()] {
        let (first, (wide, panel)) = back.unwrap();
        assert_eq!((first.0, first.1.as_str(), first.2, first.23), (5, "text", 0, 21));
        assert_eq!((wide.as_str(), panel), ("wide", None));
    }
}
