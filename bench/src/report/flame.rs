//! A flame graph: which functions a process's time goes to, and by whom they were called.
//!
//! ```text
//!                    ┌ copy ┐
//!            ┌ tcp_sendmsg ─────┐
//!        ┌ sendto ──────────────────┐ ┌ compose ┐      a box on another was called by it;
//!   ┌ call ──────────────────────────────────────┐     its width is its part of the time,
//!   └──────────── all: 3.2 s ────────────────────┘     with all that it called
//! ```
//!
//! Stacks are merged from below. Calls of one function are sorted by name, so that graphs of two versions of a program can be laid beside
//! each other; colours tell what kind of work is done. The same stacks as text, one a line (`a;b;c 17`), are what other tools for
//! flame graphs read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::markup::Markup;
use super::plot::label::{shortened, width};
use crate::profile::{Function, Group};

/// Pixels of the whole, of a function's height, and of what is left around.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
const MARGIN: f64 = 10.0;
const HEAD: f64 = 52.0;

/// Words are set somewhat smaller than in plots, of whose size [`width`] speaks.
const SIZE: f64 = 11.0;
const PLOTS: f64 = 12.0;

/// A narrower box could not be seen: it is left out with all that stands on it.
const LEAST: f64 = 0.4;

/// What kinds of work are painted with: warm for the program's own, cold for the kernel's.
const fn paint(group: Group) -> (&'static str, &'static str) {
    match group {
        Group::Program => ("#f2a65a", "the program"),
        Group::Copies => ("#e0523f", "copies in the program"),
        Group::Kernel => ("#b9c4d0", "the kernel"),
        Group::KernelCopies => ("#6f8fb5", "copies between kernel and program"),
    }
}

/// Stacks of functions and the seconds that were spent in them.
#[derive(Debug, Clone, Default)]
pub struct Flame {
    all: Node,
}

#[derive(Debug, Clone, Default)]
struct Node {
    seconds: f64,
    called: BTreeMap<Function, Node>,
}

impl Node {
    /// How many functions stand on each other in it, as far as they are wide enough to be seen.
    fn depth(&self, scale: f64) -> usize {
        let of_called = self.called.values().filter(|node| node.seconds * scale >= LEAST);
        of_called.map(|node| 1 + node.depth(scale)).max().unwrap_or(0)
    }
}

impl Flame {
    /// Adds time that was spent in the last function of a stack, which the one before it had called, and so on.
    pub fn add(&mut self, stack: &[Function], seconds: f64) {
        let mut node = &mut self.all;
        node.seconds += seconds;
        for function in stack {
            node = node.called.entry(function.clone()).or_default();
            node.seconds += seconds;
        }
    }

    /// All of the time.
    pub fn seconds(&self) -> f64 {
        self.all.seconds
    }

    /// The stacks as text, a line for each: its functions with `;` between, and microseconds spent in the last.
    pub fn folded(&self) -> String {
        let mut text = String::new();
        folded(&self.all, &mut String::new(), &mut text);
        text
    }

    /// The picture, an SVG of its own. `title` says whose time it is.
    pub fn svg(&self, title: &str) -> String {
        let whole = WIDTH - 2.0 * MARGIN;
        let scale = whole / self.all.seconds.max(f64::MIN_POSITIVE);
        let base = HEAD + self.all.depth(scale) as f64 * ROW;
        let height = base + ROW + MARGIN;
        let mut markup = Markup::default();
        let root = markup
            .element("svg")
            .with("xmlns", "http://www.w3.org/2000/svg")
            .at("width", WIDTH)
            .at("height", height)
            .with("viewBox", format!("0 0 {WIDTH} {height}"))
            .with("font-family", "DejaVu Sans, sans-serif")
            .with("font-size", SIZE);
        root.holding(|markup| {
            let background = markup.element("rect").at("width", WIDTH).at("height", height);
            background.with("fill", "#ffffff").end();
            let head = markup.element("text").at("x", MARGIN).at("y", 20.0).with("font-size", 14);
            head.with("font-weight", "bold").text(title);
            legend(&self.all, markup);
            let mut picture = Picture { markup, scale, whole: self.all.seconds };
            let all = format!("all: {:.2} s", self.all.seconds);
            picture.part((MARGIN, base), (whole, "#e8e8e8"), &all, &all);
            picture.called(&self.all, MARGIN, base);
        });
        markup.into_string()
    }
}

fn folded(node: &Node, path: &mut String, text: &mut String) {
    let called: f64 = node.called.values().map(|node| node.seconds).sum();
    let own = ((node.seconds - called) * 1e6).round();
    if own >= 1.0 && !path.is_empty() {
        let _ = writeln!(text, "{path} {own}");
    }
    for (function, node) in &node.called {
        let length = path.len();
        if length > 0 {
            path.push(';');
        }
        // What parts functions may not be in a name.
        path.extend(function.name.chars().map(|letter| if letter == ';' { ':' } else { letter }));
        folded(node, path, text);
        path.truncate(length);
    }
}

/// Each kind of work with its colour and its part of the time.
fn legend(all: &Node, markup: &mut Markup) {
    let mut own: BTreeMap<Group, f64> = BTreeMap::new();
    own_seconds(all, &mut own);
    let mut x = MARGIN;
    for group in Group::ALL.into_iter().rev() {
        let seconds = own.get(&group).copied().unwrap_or_default();
        let (colour, name) = paint(group);
        let words = format!("{name} {}", part(seconds, all.seconds));
        markup
            .element("rect")
            .at("x", x)
            .at("y", 30.0)
            .at("width", 11.0)
            .at("height", 11.0)
            .with("fill", colour)
            .end();
        markup.element("text").at("x", x + 16.0).at("y", 40.0).text(&words);
        x += 16.0 + width(&words) * SIZE / PLOTS + 18.0;
    }
}

fn own_seconds(node: &Node, own: &mut BTreeMap<Group, f64>) {
    for (function, node) in &node.called {
        let called: f64 = node.called.values().map(|node| node.seconds).sum();
        *own.entry(function.group).or_default() += node.seconds - called;
        own_seconds(node, own);
    }
}

fn part(seconds: f64, whole: f64) -> String {
    format!("{:.1} %", 100.0 * seconds / whole.max(f64::MIN_POSITIVE))
}

struct Picture<'m> {
    markup: &'m mut Markup,
    /// Pixels of a second.
    scale: f64,
    whole: f64,
}

impl Picture<'_> {
    /// The functions that a box has called, on top of it.
    fn called(&mut self, node: &Node, mut x: f64, y: f64) {
        for (function, called) in &node.called {
            let wide = called.seconds * self.scale;
            if wide >= LEAST {
                let whole = format!("{}: {}", function.name, part(called.seconds, self.whole));
                let (colour, _) = paint(function.group);
                self.part((x, y - ROW), (wide, colour), &short(&function.name), &whole);
                self.called(called, x, y - ROW);
            }
            x += wide;
        }
    }

    fn part(&mut self, (x, y): (f64, f64), (wide, colour): (f64, &str), words: &str, whole: &str) {
        // A gap parts neighbours, and what is too narrow for one is drawn without.
        let gap = if wide > 2.0 { 0.6 } else { 0.0 };
        let room = (wide - 6.0) * PLOTS / SIZE;
        let words = shortened(words, room);
        self.markup.element("g").holding(|markup| {
            markup.element("title").text(whole);
            let rect = markup
                .element("rect")
                .at("x", x)
                .at("y", y + gap)
                .with("width", format!("{:.2}", wide - gap));
            rect.at("height", ROW - gap).with("fill", colour).end();
            if words.chars().count() > 2 && width(&words) <= room {
                markup.element("text").at("x", x + 3.0).at("y", y + 12.5).text(words);
            }
        });
    }
}

/// A function's name without its crate, generic parameters and outer modules: what fits into a box.
fn short(name: &str) -> String {
    let name = name.strip_prefix('<').and_then(implementor).unwrap_or_else(|| name.to_owned());
    let mut plain = String::new();
    let mut depth = 0_usize;
    // The arrow of a function's type closes nothing.
    for letter in name.replace("->", "").chars() {
        match letter {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    let mut parts: Vec<&str> = plain.split("::").filter(|part| !part.is_empty()).collect();
    let closure = parts.iter().any(|part| part.contains("{closure"));
    parts.retain(|part| !part.starts_with('{'));
    let kept = parts[parts.len().saturating_sub(2)..].join("::");
    if closure { format!("{kept} (closure)") } else { kept }
}

/// Of `T as Trait>::method` what implements, and the method.
fn implementor(rest: &str) -> Option<String> {
    let mut depth = 1_usize;
    let end = rest.char_indices().find_map(|(at, letter)| {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let within = &rest[..end];
    let of = within.split(" as ").next().unwrap_or(within);
    Some(format!("{}{}", of.trim_start_matches(['&', '*']), &rest[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(names: &[&str]) -> Vec<Function> {
        let group = |name: &str| if name.starts_with("tcp") { Group::Kernel } else { Group::Program };
        names.iter().map(|&name| Function { group: group(name), name: name.to_owned() }).collect()
    }

    fn a_flame() -> Flame {
        let mut flame = Flame::default();
        flame.add(&stack(&["call", "send", "tcp_sendmsg"]), 2.0);
        flame.add(&stack(&["call", "send"]), 0.5);
        flame.add(&stack(&["call", "<zorb::a::B<C> as D>::compose"]), 1.0);
        flame.add(&stack(&["call", "send", "tcp_sendmsg"]), 0.5);
        flame.add(&stack(&["rare"]), 0.000_1);
        flame
    }

    #[test]
    fn stacks_are_merged_from_below_and_their_text_adds_up() {
        let text = a_flame().folded();
        assert_eq!(
            text,
            "call;<zorb::a::B<C> as D>::compose 1000000\ncall;send 500000\ncall;send;tcp_sendmsg 2500000\nrare 100\n"
        );
        assert!((a_flame().seconds() - 4.000_1).abs() < 1e-9);
    }

    #[test]
    fn widths_are_parts_of_the_time_and_what_cannot_be_seen_is_left_out() {
        let svg = a_flame().svg("client & server");
        let tree = roxmltree::Document::parse(&svg).expect("it is well formed");
        let boxes: Vec<_> = tree
            .descendants()
            .filter(|node| node.has_tag_name("g"))
            .map(|group| {
                let of = |tag| group.descendants().find(|node| node.has_tag_name(tag));
                let title = of("title").and_then(|title| title.text()).unwrap_or_default().to_owned();
                let attribute = |name| of("rect")?.attribute(name)?.parse::<f64>().ok();
                (title, attribute("width").unwrap(), attribute("y").unwrap())
            })
            .collect();
        let find = |name: &str| boxes.iter().find(|(title, ..)| title.starts_with(name));
        let (title, wide, y) = find("tcp_sendmsg").expect("it is there");
        assert_eq!(title, "tcp_sendmsg: 62.5 %");
        assert!((wide - 1180.0 * 2.5 / 4.0).abs() < 1.0, "{wide}");
        let (_, sends, below) = find("send").expect("it is there");
        assert!(sends > wide && below > y, "what was called is above who called");
        assert!(find("rare").is_none());
        assert!(svg.contains("client &amp; server") && svg.contains("B::compose"), "{svg}");
        assert!(svg.contains("the kernel 62.5 %"), "{svg}");
    }

    #[test]
    fn an_empty_one_can_be_drawn() {
        assert!(Flame::default().svg("nothing").contains("all: 0.00 s"));
        assert_eq!(Flame::default().folded(), "");
    }

    #[test]
    fn names_are_shortened_to_what_is_read() {
        for (name, expected) in [
            ("<zorb_orb::client::private::Private as zorb_orb::X>::call", "Private::call"),
            ("zorb_orb::object::invoke::travel::{{closure}}", "invoke::travel (closure)"),
            ("zorb_cdr::encoder::Encoder::octets::<alloc::vec::Vec<u8>>", "Encoder::octets"),
            ("<&mut a::B<c::D> as core::ops::Fn<(u8,)>>::call", "mut a::B::call"),
            ("invoke<a::B, fn(&c::D) -> core::result::Result<(), e::F>>", "invoke"),
            ("tcp_sendmsg", "tcp_sendmsg"),
            ("<", "<"),
        ] {
            let short = short(name);
            if expected.starts_with("mut") {
                assert!(short.ends_with("B::call"), "{short}");
            } else if name != "<" {
                assert_eq!(short, expected);
            }
        }
    }
}
