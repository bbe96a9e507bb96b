//! The command line that all peers share: `--name value` pairs, two words that stand alone, and a reference.

use std::time::Duration;

use zorb::cdr::Version;
use zorb::policy::Policies;
use zorb::{Orb, OrbBuilder};

/// What the command line says.
#[derive(Default)]
pub struct Options {
    /// The reference that the client is to call.
    pub reference: String,
    /// Where the server puts its reference.
    pub ior_file: String,
    /// The highest GIOP version to speak: 1.0, 1.1 or 1.2.
    pub giop: String,
    /// The native code set of the other side, `latin1` or `utf8`: which texts it can hold.
    pub text: String,
    /// Run only the cases whose names begin so.
    pub only: String,
    /// Where to listen: `tcp`, on the loopback interface, or `unix`.
    pub at: String,
    /// Send messages above so many octets in fragments.
    pub fragment: Option<usize>,
    /// Leave out what does not go through a bridge.
    pub bridged: bool,
    /// Print the names of the cases and call nobody.
    pub list: bool,
    /// Print the samples and call nobody.
    pub samples: bool,
}

impl Options {
    /// Reads `words`, the command line without the program's name.
    ///
    /// # Errors
    /// What cannot be understood, in a sentence.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut options =
            Options { giop: "1.2".into(), text: "latin1".into(), at: "tcp".into(), ..Options::default() };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--ior-file" => options.ior_file = value()?,
                "--giop" => options.giop = value()?,
                "--text" => options.text = value()?,
                "--at" => options.at = value()?,
                "--only" => options.only = value()?,
                "--fragment" => {
                    let octets = value()?;
                    options.fragment =
                        Some(octets.parse().map_err(|_| format!("{word} {octets}: no number"))?);
                }
                "--bridged" => options.bridged = true,
                "--list" => options.list = true,
                "--samples" => options.samples = true,
                _ if word.starts_with("--") => return Err(format!("{word}: no such option")),
                _ => options.reference = word,
            }
        }
        match (options.giop.as_str(), options.text.as_str(), options.at.as_str()) {
            ("1.0" | "1.1" | "1.2", "latin1" | "utf8", "tcp" | "unix") => Ok(options),
            (giop, text, at) => Err(format!(
                "--giop {giop} --text {text} --at {at}: 1.0, 1.1 or 1.2; latin1 or utf8; tcp or unix"
            )),
        }
    }

    /// Whether the other side holds text as UTF-8.
    pub fn utf8(&self) -> bool {
        self.text == "utf8"
    }

    /// Whether there are wide characters between the two sides.
    pub fn has_wide(&self) -> bool {
        self.giop != "1.0"
    }

    fn version(&self) -> Version {
        match self.giop.as_str() {
            "1.0" => Version::V1_0,
            "1.1" => Version::V1_1,
            _ => Version::V1_2,
        }
    }

    /// An ORB as the options say, listening for this machine only.
    pub fn orb(&self) -> OrbBuilder {
        // Above what the longest case needs on a slow machine: what does not answer shall fail by name.
        let policies = Policies::new().call_timeout(Duration::from_secs(60));
        let endpoint = if self.at == "unix" { "unix:" } else { "tcp:127.0.0.1:0" };
        let builder = Orb::builder().listen(endpoint).policies(policies).giop_version(self.version());
        match self.fragment {
            Some(octets) => builder.fragment_size(octets),
            None => builder,
        }
    }
}
