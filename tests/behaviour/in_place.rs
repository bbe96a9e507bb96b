//! A servant in the caller's own process gets what one elsewhere would: nothing that it does to its arguments is seen by the caller, nor the other way around.

use std::sync::{Arc, Mutex};

use zorb::{Any, Call, Interface, Orb, Sequence, SystemException};
use zorb_tests::bulk::{Frame, Mixed, Point, Store, StoreServant};
use zorb_tests::darkroom_servant::octets;

use crate::fixture::Place;

type Result<T> = std::result::Result<T, SystemException>;

/// Overwrites whatever it can of what it gets, gives that back, and keeps a handle on what it gives.
#[derive(Default)]
struct Scribbler {
    kept: Mutex<Vec<Sequence<u8>>>,
}

/// All of it written over, by way of the only means there is.
fn scribbled<T: zorb::cdr::Element>(data: Sequence<T>, value: T) -> Sequence<T> {
    let mut elements = data.into_vec();
    elements.fill(value);
    elements.into()
}

impl StoreServant for Scribbler {
    fn nothing(&self, _: &Call) -> Result<()> {
        Ok(())
    }
    fn echo_octets(&self, _: &Call, data: Sequence<u8>) -> Result<Sequence<u8>> {
        let result = scribbled(data, 0xdd);
        self.kept.lock().unwrap().push(result.clone());
        Ok(result)
    }
    fn echo_doubles(&self, _: &Call, data: Sequence<f64>) -> Result<Sequence<f64>> {
        Ok(scribbled(data, -1.0))
    }
    fn echo_rows(&self, _: &Call, data: Sequence<[f64; 16]>) -> Result<Sequence<[f64; 16]>> {
        Ok(scribbled(data, [-1.0; 16]))
    }
    fn echo_points(&self, _: &Call, data: Sequence<Point>) -> Result<Sequence<Point>> {
        Ok(scribbled(data, Point::default()))
    }
    fn echo_mixes(&self, _: &Call, data: Sequence<Mixed>) -> Result<Sequence<Mixed>> {
        Ok(data)
    }
    fn echo_shifted(&self, _: &Call, _: i32, data: Sequence<Mixed>) -> Result<Sequence<Mixed>> {
        Ok(data)
    }
    fn echo_frame(&self, _: &Call, data: &Frame) -> Result<Frame> {
        let mut frame = data.clone();
        frame.pixels = scribbled(frame.pixels, 0xdd);
        frame.title.clear();
        Ok(frame)
    }
    fn echo_film(&self, _: &Call, data: &[Frame]) -> Result<Vec<Frame>> {
        Ok(data.to_vec())
    }
    fn echo_table(&self, _: &Call, data: &[Sequence<f64>]) -> Result<Vec<Sequence<f64>>> {
        Ok(data.iter().map(|row| scribbled(row.clone(), -1.0)).collect())
    }
    fn echo_anything(&self, _: &Call, data: &Any) -> Result<Any> {
        Ok(data.clone())
    }
}

/// The same of a servant here and of one elsewhere.
fn nobody_scribbles_on_another_s_data(store: &Store, servant: &Scribbler) {
    for size in [100, 100_000] {
        let lent = octets(size);
        let before = lent.clone();
        let result = store.echo_octets(&lent).unwrap();
        assert!(lent == before && result.iter().all(|octet| *octet == 0xdd));
        // Nor does a caller on what the servant has kept of its result.
        let mut own = result.into_vec();
        own.fill(0x11);
        assert!(servant.kept.lock().unwrap().pop().unwrap().iter().all(|octet| *octet == 0xdd));

        // What a future owns may have other handles.
        let owned = Sequence::from(before.clone());
        store.echo_octets_async(owned.clone()).wait().unwrap();
        assert!(owned == before);
        servant.kept.lock().unwrap().clear();

        let frame = Frame { title: "one".into(), pixels: owned.clone(), ..Frame::default() };
        let back = store.echo_frame(&frame).unwrap();
        assert!(frame.pixels == before && frame.title == "one" && back.title.is_empty());
        let table = vec![Sequence::from(vec![0.5; size]); 2];
        let back = store.echo_table(&table).unwrap();
        assert!(table.iter().all(|row| *row == vec![0.5; size]) && back[0][0] == -1.0);
        let points = vec![Point { x: 1.0, ..Point::default() }; size];
        store.echo_points(&points).unwrap();
        assert!(points.iter().all(|point| point.x == 1.0));
    }
}

fn a_servant_here_is_as_one_elsewhere(at: Place) {
    let server = at.server().build();
    let poa = server.root_poa().unwrap();
    let servant = Arc::new(Scribbler::default());
    let here = poa.activate::<Store>(servant.clone()).unwrap();
    poa.manager().activate().unwrap();
    nobody_scribbles_on_another_s_data(&here, &servant);
    let client: Orb = at.client().build();
    let text = server.object_to_string(Some(here.as_object()));
    let elsewhere = Store::from_object(client.string_to_object(&text).unwrap().unwrap());
    nobody_scribbles_on_another_s_data(&elsewhere, &servant);
}

over! {
    by giop between processes:
    a_servant_here_is_as_one_elsewhere,
}
