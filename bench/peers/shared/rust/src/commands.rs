//! The command loop of `drive`.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::call::Kind;
use crate::flood::Element;
use crate::{Failure, describe};

/// One kind of two-way call, prepared. Only [`Call::make`] is timed.
#[allow(async_fn_in_trait, reason = "all runs on one thread")]
pub trait Call {
    /// Prepares what the call of this number sends.
    fn change(&mut self, number: u64);
    /// Makes the call.
    async fn make(&mut self) -> Result<(), Failure>;
    /// Makes sure that the reply is right.
    fn verify(&mut self) -> Result<(), Failure>;
}

/// Times from the first send.
#[derive(Debug)]
pub struct Flooded {
    /// Until the last buffer had left the caller.
    pub sent: Duration,
    /// Until the receiver had confirmed that it executed all.
    pub executed: Duration,
}

/// The calling end of a peer.
#[allow(async_fn_in_trait, reason = "all runs on one thread")]
pub trait Driver {
    /// Its calls.
    type Call: Call + 'static;
    /// A call of this kind.
    fn call(&self, kind: Kind) -> Self::Call;
    /// Sends so many buffers and returns when the receiver has confirmed that it executed all.
    async fn flood(&self, element: Element, payload: usize, count: u32) -> Result<Flooded, Failure>;
    /// The time of a new connection with one null call.
    async fn connect(&self) -> Result<Duration, Failure>;
    /// Holds so many idle connections more; 0 closes all.
    async fn idle(&mut self, count: usize) -> Result<(), Failure>;
}

pub(crate) async fn run(driver: impl Driver) -> Result<(), Failure> {
    let mut commands = Commands { driver, prepared: None, number: 0 };
    let mut lines = lines();
    println!("ready");
    std::io::stdout().flush()?;
    while let Some(line) = lines.recv().await {
        let answer = match commands.answer(&line).await {
            Ok(answer) => answer,
            Err(failure) => format!("error {}", describe(&*failure)),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Lines of the input, read by a thread of their own: meanwhile connections go on being served.
fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

struct Commands<D: Driver> {
    driver: D,
    prepared: Option<D::Call>,
    number: u64,
}

impl<D: Driver> Commands<D> {
    async fn answer(&mut self, line: &str) -> Result<String, Failure> {
        let mut words = Words(line.split_whitespace());
        match words.word("a command")? {
            "call" => {
                self.prepared = None;
                self.prepared = Some(self.driver.call(words.kind()?));
                Ok("ok".to_owned())
            }
            "burst" => self.burst(words.count("N")?).await,
            "flood" => {
                let element = Element::named(words.word("TYPE")?)?;
                let payload = words.count("OCTETS")?;
                let flooded = self.driver.flood(element, payload, words.count("COUNT")? as u32).await?;
                Ok(format!("flood {} {}", flooded.executed.as_nanos(), flooded.sent.as_nanos()))
            }
            "callers" => {
                let callers = words.count("N")?;
                let lasting = Duration::from_millis(words.count("MILLISECONDS")? as u64);
                self.callers(callers, lasting, words.kind()?).await
            }
            "collocated" => {
                words.count("N")?;
                Ok("unsupported it has no objects in the caller's process".to_owned())
            }
            "connect" => Ok(format!("ns {}", self.driver.connect().await?.as_nanos())),
            "idle" => {
                self.driver.idle(words.count("N")?).await?;
                Ok("ok".to_owned())
            }
            unknown => Err(format!(
                "no command {unknown}: there are call burst flood callers collocated connect idle"
            )
            .into()),
        }
    }

    async fn burst(&mut self, calls: usize) -> Result<String, Failure> {
        let call = self.prepared.as_mut().ok_or("burst comes after call")?;
        let mut times = "ns".to_owned();
        for _ in 0..calls {
            self.number += 1;
            call.change(self.number);
            let began = Instant::now();
            call.make().await?;
            let elapsed = began.elapsed();
            call.verify()?;
            times.push_str(&format!(" {}", elapsed.as_nanos()));
        }
        Ok(times)
    }

    async fn callers(&mut self, callers: usize, lasting: Duration, kind: Kind) -> Result<String, Failure> {
        if callers == 0 {
            return Err("N cannot be 0".into());
        }
        let mut tasks = JoinSet::new();
        let began = Instant::now();
        for _ in 0..callers {
            let mut call = self.driver.call(kind);
            tasks.spawn_local(async move {
                let mut made = 0;
                while began.elapsed() < lasting {
                    made += 1;
                    call.change(made);
                    call.make().await?;
                    call.verify()?;
                }
                Ok::<u64, Failure>(made)
            });
        }
        let mut completed = 0;
        while let Some(made) = tasks.join_next().await {
            completed += made??;
        }
        Ok(format!("callers {completed} {}", began.elapsed().as_nanos()))
    }
}

/// The words of a command.
struct Words<'l>(std::str::SplitWhitespace<'l>);

impl<'l> Words<'l> {
    fn word(&mut self, name: &str) -> Result<&'l str, Failure> {
        self.0.next().ok_or_else(|| format!("{name} is missing").into())
    }

    fn count(&mut self, name: &str) -> Result<usize, Failure> {
        let word = self.word(name)?;
        match word.parse::<u32>() {
            Ok(count) => Ok(count as usize),
            Err(why) => Err(format!("{name} cannot be {word}: {why}").into()),
        }
    }

    fn kind(&mut self) -> Result<Kind, Failure> {
        let name = self.word("KIND")?;
        Kind::named(name, self.count("SIZE")?)
    }
}
