//! A camera and a screen: pictures as frames over UDP, at a rate, each with its time, by a [way that loses some](relay). The screen's servant learns for each picture its number, its time, and how many are missing before it.

mod relay;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use video::{Screen, ScreenServant};
use zorb::frames::{self, FrameRules, Pacer};
use zorb::messaging::{Giop, Messaging};
use zorb::transport::udp::Udp;
use zorb::{Call, Interface, Orb, OrbBuilder, Sequence, SystemException};

zorb::include_idl!("video");

/// 25 pictures a second.
const BETWEEN: Duration = Duration::from_millis(40);

/// What the screen has seen of a picture: its number, its time in milliseconds, its octets, how many are missing before it.
type Seen = (u32, u64, usize, u32);

struct Wall(Sender<Seen>);

impl ScreenServant for Wall {
    fn show(&self, call: &Call, picture: Sequence<u8>) -> Result<(), SystemException> {
        // A picture that comes by GIOP has no number.
        if let Some(frame) = call.frame() {
            let _ = self.0.send((frame.sequence, frame.timestamp / 1_000_000, picture.len(), frame.lost));
        }
        Ok(())
    }
}

/// Speaks frames by UDP, and GIOP where the other side knows nothing better.
fn with_frames() -> OrbBuilder {
    let messagings: [Arc<dyn Messaging>; 2] = [Arc::new(frames::messaging()), Arc::new(Giop)];
    // What is a second late is not worth showing.
    let rules = FrameRules { max_lateness: Some(Duration::from_secs(1)), ..FrameRules::default() };
    Orb::builder().transport(Arc::new(Udp::new().frames(rules))).messagings(messagings)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (seen, screen_saw) = channel();
    let server = with_frames().listen("udp:127.0.0.1:0").build();
    let poa = server.root_poa()?;
    let wall = poa.activate::<Screen>(Arc::new(Wall(seen)))?.as_object().to_string();
    poa.manager().activate()?;

    // Every tenth datagram is lost.
    let (reference, way) = relay::through(&wall)?;
    std::thread::spawn(move || way.run(|number| number % 10 != 9));

    let camera = with_frames().build();
    let object = camera.string_to_object(&reference)?.ok_or("the reference is nil")?;
    println!("{}", if object.protocols()[0].endpoint.ends_with(" by frames") { "frames" } else { "GIOP" });
    let screen = Screen::from_object(object);
    // Up to five pictures leave at once: the first ones, and those of who was held up.
    let mut pacer = Pacer::new(1.0 / BETWEEN.as_secs_f64(), 5.0);
    for number in 0..25u32 {
        // A picture that cannot leave in time would be left out.
        pacer.pace(1.0, Instant::now() + 5 * BETWEEN)?;
        frames::at(number * BETWEEN, || screen.show(&vec![0; 1000 + number as usize]))?;
    }
    while let Ok((number, time, octets, lost)) = screen_saw.recv_timeout(Duration::from_secs(2)) {
        let gap = if lost > 0 { format!(", {lost} missing before it") } else { String::new() };
        println!("picture {number} of {time} ms, {octets} octets{gap}");
        if number == 24 {
            return Ok(());
        }
    }
    Err("the last picture did not come".into())
}
