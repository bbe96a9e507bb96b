//! The report's page as its readers meet it: parsed, and looked at as a tree.

mod sample;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use roxmltree::{Document, Node, ParsingOptions};
use zorb_bench::report::{Page, Painter, Report};

fn parse(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).expect("the page is well-formed")
}

fn sample_page() -> Page {
    Report::of(Some(sample::machine().as_bytes()), sample::results().as_bytes()).page()
}

fn page_of(rows: &str) -> Page {
    Report::of(None, rows.as_bytes()).page()
}

fn elements<'a, 'i>(under: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    under.descendants().filter(move |node| node.tag_name().name() == name)
}

fn with_id<'a>(document: &'a Document<'_>, id: &str) -> Option<Node<'a, 'a>> {
    document.descendants().find(|node| node.attribute("id") == Some(id))
}

/// All text below a node.
fn text(node: Node) -> String {
    node.descendants().filter_map(|node| node.is_text().then(|| node.text()).flatten()).collect()
}

fn has_class(node: &Node, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|found| found == class))
}

fn labels(plot: Node) -> Vec<String> {
    elements(plot, "text").filter(|node| has_class(node, "label")).map(text).collect()
}

/// The plot whose title begins with these words.
fn plot<'a, 'i>(section: Node<'a, 'i>, title: &str) -> Node<'a, 'i> {
    elements(section, "svg")
        .find(|svg| svg.attribute("aria-label").is_some_and(|label| label.starts_with(title)))
        .unwrap_or_else(|| panic!("no plot {title:?}"))
}

const SECTIONS: [&str; 13] = [
    "targets",
    "ttcp",
    "profile",
    "rtt",
    "cube",
    "whitebox",
    "counts",
    "size",
    "demux",
    "firstcall",
    "concurrency",
    "connections",
    "images",
];

#[test]
fn every_experiment_has_its_section_and_every_plot_its_command_and_data() {
    let page = sample_page();
    let document = parse(&page.html);
    let sections: Vec<_> =
        elements(document.root(), "section").filter_map(|node| node.attribute("id")).collect();
    assert_eq!(sections, SECTIONS);
    let links: Vec<_> = elements(document.root(), "a").filter_map(|node| node.attribute("href")).collect();
    assert_eq!(links, SECTIONS.map(|id| format!("#{id}")));
    assert!(page.not_measured.is_empty() && with_id(&document, "not-measured").is_none());

    let mut drawn = 0;
    for figure in
        elements(document.root(), "figure").filter(|figure| elements(*figure, "svg").next().is_some())
    {
        drawn += 1;
        let id = figure.attribute("id").unwrap();
        let command = elements(figure, "pre").next().map(text).unwrap_or_default();
        assert!(command.starts_with("zorb "), "{id}: {command:?}");
        let rows = elements(figure, "tbody").flat_map(|body| elements(body, "tr")).count();
        let summary = elements(figure, "summary").last().map(text).unwrap_or_default();
        assert!(rows > 0 && summary.starts_with(&format!("Data, {rows} row")), "{id}: {summary}");
    }
    assert_eq!(drawn, page.plots.len());
    let names: BTreeSet<_> = page.plots.iter().map(|plot| plot.id.as_str()).collect();
    assert_eq!(names.len(), page.plots.len(), "names differ");
    assert!(!page.html.contains("Rows that no plot shows"), "all of the sample's rows are drawn");
    let of_table =
        |id| elements(with_id(&document, id).unwrap(), "summary").next().map(text).unwrap_or_default();
    assert_eq!(of_table("cube"), "Data, 99 rows", "what is only in a table has its data below it");
    assert_eq!(of_table("ttcp"), "Data, 150 rows", "and what is in plots is not repeated");
}

#[test]
fn the_page_fetches_nothing_and_runs_nothing() {
    let html = sample_page().html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for forbidden in ["http:", "https:", "<script", "<link", "<img", "url(", "@import", "javascript:"] {
        assert_eq!(html.find(forbidden), None, "{forbidden}");
    }
    let document = parse(&html);
    let handlers =
        document.descendants().flat_map(|node| node.attributes()).filter(|a| a.name().starts_with("on"));
    assert_eq!(handlers.count(), 0);
    assert!(html.contains("prefers-color-scheme:dark"));
}

#[test]
fn throughput_is_drawn_by_type_and_summed_up_as_the_papers_did() {
    let page = sample_page();
    let document = parse(&page.html);
    let section = with_id(&document, "ttcp").unwrap();
    let titles: Vec<_> = elements(section, "svg").filter_map(|svg| svg.attribute("aria-label")).collect();
    for (title, kind) in titles.iter().zip(["octet", "char", "short", "long", "double", "struct", "struct32"])
    {
        assert_eq!(*title, format!("Throughput of {kind} by size of the buffer"));
    }
    let octet = plot(section, "Throughput of octet");
    let mut systems = labels(octet);
    systems.sort();
    let all =
        ["capnp", "framed", "ipc", "jacorb", "omniorb", "raw", "tirpc", "tirpc-opaque", "tonic", "zorb"];
    assert_eq!(systems, all);
    assert_eq!(elements(octet, "polyline").count(), all.len());
    for line in elements(octet, "polyline") {
        assert_eq!(line.attribute("points").unwrap().split(' ').count(), 15, "1 KiB to 16 MiB");
    }
    let summary = elements(section, "table").next().unwrap();
    let first_row: Vec<_> = elements(summary, "tbody")
        .next()
        .unwrap()
        .first_element_child()
        .unwrap()
        .children()
        .map(text)
        .collect();
    assert_eq!((first_row[0].as_str(), first_row.len()), ("raw", 9));
}

#[test]
fn highest_lowest_ratio_and_cost_are_computed_from_the_rows() {
    let row = |system, kind, size, rate, cost| {
        // Not the quotient of the highest: what was measured beside it counts.
        let ratio = if system == "raw" { 1.0 } else { rate / 10.0 };
        format!(
            r#"{{"experiment":"ttcp","system":"{system}","transport":"tcp","type":"{kind}","size":{size},"pin":"same","gbit_s":{rate},"cpu_s_per_gib":{cost},"ratio_to_raw":{ratio}}}"#
        )
    };
    let rows = [
        row("raw", "octet", 1024, 2.0, 9.0),
        row("raw", "octet", 65536, 40.0, 0.3),
        row("raw", "struct", 65536, 30.0, 0.4),
        row("zorb", "octet", 1024, 1.5, 12.0),
        row("zorb", "double", 65536, 30.0, 0.5),
        row("zorb", "struct", 65536, 12.3456, 1.25),
        row("zorb", "struct", 1048576, 15.0, 1.5),
        // Strings have a plot, and no part in this table.
        row("zorb", "string", 1024, 0.5, 30.0),
        row("zorb", "string", 65536, 50.0, 0.1),
    ];
    let page = page_of(&rows.join("\n"));
    let document = parse(&page.html);
    plot(with_id(&document, "ttcp").unwrap(), "Throughput of string by size of the buffer");
    let table = elements(with_id(&document, "ttcp").unwrap(), "table").next().unwrap();
    let rows: Vec<Vec<_>> = elements(elements(table, "tbody").next().unwrap(), "tr")
        .map(|row| row.children().map(text).collect())
        .collect();
    assert_eq!(rows[0], ["raw", "40,000", "2,000", "1.00", "0.300", "30,000", "30,000", "1.00", "0.400"]);
    assert_eq!(rows[1], ["zorb", "30,000", "1,500", "3.00", "0.500", "15,000", "12,346", "1.50", "1.25"]);
}

#[test]
fn round_trips_have_a_plot_for_each_placement_and_ratios_only_where_there_are_some() {
    let page = sample_page();
    let document = parse(&page.html);
    let section = with_id(&document, "rtt").unwrap();
    let plots: Vec<_> = elements(section, "svg").collect();
    let under: Vec<_> = plots
        .iter()
        .map(|svg| elements(*svg, "text").find(|node| has_class(node, "unit")).map(text).unwrap())
        .collect();
    assert_eq!(under[0], "µs · both sides on one core");
    assert!(under[1].starts_with("median ratio and 95 % interval"), "{under:?}");
    assert_eq!(under[2..], ["µs · a core for each side", "µs · not pinned"]);
    // Four sizes of eight systems, three of them over two transports.
    assert_eq!(labels(plots[0]).len(), 4 * 11);
    assert_eq!(labels(plots[1]).len(), 4 * 9, "raw is not compared with itself");
    assert!(
        labels(plots[0]).contains(&"zorb unix".to_owned()) && labels(plots[0]).contains(&"tonic".to_owned())
    );
    assert!(elements(plots[1], "line").any(|line| has_class(&line, "target")));
}

#[test]
fn ratios_are_judged() {
    let row = |low: f64, high: f64| {
        format!(
            r#"{{"experiment":"rtt","system":"zorb","transport":"tcp","messaging":"giop","type":"null","size":0,"pin":"same","p50_us":12.5,"p99_us":20,"ratio_to_raw":{},"ratio_low":{low},"ratio_high":{high}}}"#,
            (low + high) / 2.0
        )
    };
    for (low, high, verdict) in [(1.0, 1.05, "met"), (1.2, 1.3, "missed"), (1.05, 1.2, "not resolved")] {
        let page = page_of(&row(low, high));
        let document = parse(&page.html);
        let cells: Vec<_> = elements(with_id(&document, "targets").unwrap(), "td").map(text).collect();
        assert_eq!(cells.first().map(String::as_str), Some(verdict));
        assert!(
            cells.contains(&format!("{low:.3} – {high:.3}")) && cells.contains(&"1.10".to_owned()),
            "{cells:?}"
        );
    }
}

#[test]
fn many_sizes_become_a_curve() {
    let rows: String = (0..10)
        .map(|power| {
            let (size, time) = (1 << power, 12.0 + f64::from(power));
            format!(
                "{{\"experiment\":\"rtt\",\"system\":\"zorb\",\"type\":\"octet\",\"size\":{size},\"pin\":\"same\",\"p50_us\":{time},\"p99_us\":{}}}\n",
                time * 2.0
            )
        })
        .collect();
    let page = page_of(&rows);
    let document = parse(&page.html);
    let section = with_id(&document, "rtt").unwrap();
    for title in ["Median", "99th percentile", "Payload of calls"] {
        let line = elements(plot(section, title), "polyline").next().unwrap();
        assert_eq!(line.attribute("points").unwrap().split(' ').count(), 10);
    }
}

#[test]
fn a_null_call_beside_a_curve_stays_a_row() {
    let row = |kind: &str, size: u32| {
        format!(
            "{{\"experiment\":\"rtt\",\"system\":\"zorb\",\"type\":\"{kind}\",\"size\":{size},\"pin\":\"same\",\"p50_us\":10,\"p99_us\":20}}\n"
        )
    };
    let sizes: String = (0..9).map(|power| row("octet", 64 << power)).collect();
    let page = page_of(&(row("null", 0) + &sizes));
    let document = parse(&page.html);
    let section = with_id(&document, "rtt").unwrap();
    assert_eq!(labels(plot(section, "Time of a call, median")), ["zorb"]);
    // 64 octets there and back in 10 µs.
    let bandwidth = plot(section, "Payload of calls with octet");
    assert!(text(bandwidth).contains("zorb, 64 B: 0.102 Gbit/s"), "{}", text(bandwidth));
    assert!(!page.html.contains("Rows that no plot shows"));
}

#[test]
fn studies_are_told_apart() {
    let row = |study: &str, system: &str, kind: &str, size: u32, rate: f64| {
        format!(
            "{{\"experiment\":\"ttcp\",\"system\":\"{system}\",\"transport\":\"tcp\",\"type\":\"{kind}\",\"size\":{size},\"pin\":\"split\",\"gbit_s\":{rate},\"cpu_s_per_gib\":1,\"ratio_to_raw\":1.5,\"study\":\"{study}\"}}\n"
        )
    };
    let mut rows = String::new();
    for system in ["raw", "zorb"] {
        for size in [4096, 65536] {
            rows += &row("zero-copy", system, "octet", size, 30.0);
            rows += &row("middleware", system, "octet", size, 20.0);
            rows += &row("middleware", system, "struct", size, 10.0);
        }
        for size in [1, 1024] {
            rows += &row("wrappers", system, "octet", size, 0.5);
            rows += &row("wrappers", system, "string", size, 0.25);
        }
    }
    let page = page_of(&rows);
    let document = parse(&page.html);
    let section = with_id(&document, "ttcp").unwrap();
    let headings: Vec<_> = elements(section, "h3").map(text).collect();
    let starts =
        ["Where middleware loses its time", "Typed wrappers that cost nothing", "Zero copy for CORBA"];
    assert_eq!(headings.len(), 3, "{headings:?}");
    assert!(headings.iter().zip(starts).all(|(heading, start)| heading.starts_with(start)), "{headings:?}");
    let tables: Vec<Vec<Vec<String>>> = elements(section, "div")
        .filter(|node| has_class(node, "scroll"))
        .filter(|node| !node.ancestors().any(|above| above.tag_name().name() == "details"))
        .map(|table| elements(table, "tr").map(|row| row.children().map(text).collect()).collect())
        .collect();
    assert_eq!(tables.len(), 3, "highest and lowest, and by size of sequences and of strings");
    assert_eq!(tables[0][3][..3], ["zorb", "20,000", "20,000"], "of one study only");
    assert_eq!(tables[1], [["buffer", "raw", "zorb"], ["1 B", "500", "500"], ["1 KiB", "500", "500"]]);
    assert_eq!(tables[2], [["buffer", "raw", "zorb"], ["1 B", "250", "250"], ["1 KiB", "250", "250"]]);
    let listed = with_id(&document, "studies").unwrap().next_sibling_element().unwrap();
    let numbers: Vec<_> = elements(listed, "li").filter_map(|item| item.attribute("value")).collect();
    assert_eq!(numbers, ["1", "2", "5"]);
    assert!(elements(listed, "a").all(|link| link.attribute("href") == Some("#ttcp")));
    for bytes in ["bytes in sequences", "bytes in strings"] {
        plot(section, &format!("Throughput of {bytes} by size of the buffer"));
        plot(section, &format!("Processor time for {bytes} by size of the buffer"));
        plot(section, &format!("Time for {bytes} as a multiple of a bare socket's"));
    }
    plot(section, "Throughput by size of the block");
    assert!(!page.html.contains("Rows that no plot shows"));
    for svg in elements(document.root(), "svg") {
        assert_text_has_room(svg);
    }
}

#[test]
fn the_other_sections_show_what_they_are_for() {
    let page = sample_page();
    let document = parse(&page.html);
    let section = |id| with_id(&document, id).unwrap();

    let cube = elements(section("cube"), "table").next().unwrap();
    let heads: Vec<_> =
        elements(cube, "th").filter(|head| head.attribute("scope") == Some("col")).map(text).collect();
    assert_eq!(heads[..5], ["argument and result", "raw", "ipc", "zorb tcp", "zorb unix"]);
    assert_eq!(elements(elements(cube, "tbody").next().unwrap(), "tr").count(), 9);

    let goes = plot(section("profile"), "What the time of long, 128 KiB goes to");
    let parts = elements(goes, "rect").filter(|rect| has_class(rect, "segment"));
    // The four kinds' names, and four parts of each side.
    let sides = labels(goes).len() - 4;
    assert!(sides >= 8 && parts.count() == 4 + 4 * sides);
    let costly = text(section("profile"));
    for words in ["_copy_from_iter 40 %, tcp_sendmsg_locked 20 %, bench::BinStruct", "kernel-copies", "30 %"]
    {
        assert!(costly.contains(words), "{words} is missing in {costly}");
    }

    let stacked = plot(section("whitebox"), "The steps of zorb calls");
    let segments = elements(stacked, "rect").filter(|rect| has_class(rect, "segment"));
    assert_eq!(segments.count(), 4 * zorb_bench::whitebox::named_steps().count());
    let unfolded = text(plot(section("whitebox"), "A zorb call (null)"));
    for step in
        ["2 deadline and policies", "10 the servant's method", "14 result read", "client: ", "server: "]
    {
        assert!(unfolded.contains(step), "{step}");
    }

    let parted = plot(section("size"), "The time of a call with zorb, parted");
    assert_eq!(labels(parted), ["the socket", "the ORB"]);

    let demux = section("demux");
    assert_eq!(
        elements(demux, "svg").count(),
        10,
        "operations and objects, first and last, same and random, the server's time, both styles"
    );
    let mut lookups = labels(plot(demux, "Calling the last of many operations"));
    lookups.sort();
    assert_eq!(lookups, ["hashed", "linear", "numbered", "perfect"]);
    let mut systems = labels(plot(demux, "Calling random ones of many objects"));
    systems.sort();
    assert_eq!(systems, ["jacorb", "omniorb", "zorb"]);

    plot(demux, "The server's time, calling the last of many operations");
    let iterations = elements(demux, "table")
        .map(|table| elements(table, "tr").map(|row| row.children().map(text).collect()).collect())
        .find(|rows: &Vec<Vec<String>>| rows[0].contains(&"server, ms".to_owned()))
        .expect("the field's experiment");
    let line =
        |words: &str| iterations.iter().find(|row| row[0] == words).unwrap_or_else(|| panic!("{words}"));
    assert_eq!(iterations[1][..6], ["iterations", "1", "100", "500", "1,000", "1"]);
    assert_eq!(iterations.len(), 2 + 2 * 4 + 3 + 2);
    assert!(line("Two-way, linear")[9..].iter().all(String::is_empty));
    assert!(line("Oneway, numbered")[12].contains(" – "));
    assert_eq!(line("In 1996: linear")[4], "6,603");
    assert_eq!(line("In 1996: oneway, the better way")[12], "10");

    let first = plot(section("firstcall"), "Time of a first call");
    let heads: Vec<_> = elements(first, "text").filter(|node| has_class(node, "title")).map(text).collect();
    assert_eq!(
        heads[1..],
        ["First on a new connection", "First on a new interface", "First on a new object", "Later calls"]
    );
    assert_eq!(elements(section("concurrency"), "svg").count(), 3);
    assert_eq!(elements(section("connections"), "svg").count(), 3);
    assert_eq!(labels(plot(section("images"), "Calls per second")), ["zorb", "omniorb", "jacorb"]);

    let machine = text(with_id(&document, "machine").unwrap());
    assert!(machine.contains("0.0.0-sample") && machine.contains("23.5 GiB"), "{machine}");
}

#[test]
fn steps_that_share_a_number_are_all_shown_in_their_order() {
    let row = |step: u32, name: &str, time: u32| {
        format!(
            "{{\"experiment\":\"whitebox\",\"system\":\"zorb\",\"type\":\"null\",\"size\":0,\"pin\":\"same\",\"side\":\"server\",\"step\":{step},\"name\":\"{name}\",\"p50_ns\":{time},\"share\":0.1}}\n"
        )
    };
    let rows = [
        row(12, "reply written", 1_000),
        row(12, "sent", 2_000),
        row(12, "ended", 3_000),
        row(9, "found", 500),
    ];
    // A run that was made again.
    let page = page_of(&(rows.concat() + &row(12, "sent", 4_000)));
    let document = parse(&page.html);
    let unfolded = text(plot(with_id(&document, "whitebox").unwrap(), "A zorb call (null)"));
    let places = ["9 found", "12 reply written", "12 sent", "12 ended"].map(|step| unfolded.find(step));
    assert!(places.is_sorted() && places[0].is_some(), "{unfolded}");
    assert!(unfolded.contains("server: 8.50 µs"), "{unfolded}");
}

/// Text must lie within its drawing and not on other text. Widths are guessed a little too small, so that only what is
/// surely wrong is found.
fn assert_text_has_room(svg: Node) {
    const CHARACTER: f64 = 6.0;
    let view: Vec<f64> =
        svg.attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
    let boxes: Vec<_> = elements(svg, "text")
        .map(|node| {
            let at = |name| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let words = text(node);
            let width = words.chars().count() as f64 * CHARACTER;
            let left = match () {
                () if has_class(&node, "end") => at("x") - width,
                () if has_class(&node, "middle") => at("x") - width / 2.0,
                () => at("x"),
            };
            (words, left, left + width, at("y"))
        })
        .collect();
    for (index, (words, left, right, base)) in boxes.iter().enumerate() {
        let inside = *left >= -2.0 && *right <= view[2] + 2.0 && *base >= 10.0 && *base <= view[3];
        assert!(inside, "{words:?} leaves its plot: {left} to {right}, {base} of {view:?}");
        for (other, other_left, other_right, other_base) in &boxes[..index] {
            let apart = right <= other_left || other_right <= left || (base - other_base).abs() >= 9.0;
            assert!(apart, "{words:?} lies on {other:?}");
        }
    }
}

#[test]
fn no_text_is_clipped_or_covered() {
    let page = sample_page();
    let document = parse(&page.html);
    for svg in elements(document.root(), "svg") {
        assert_text_has_room(svg);
    }
}

#[test]
fn nothing_is_dropped() {
    let rows = [
        r#"{"experiment":"weather","system":"sky","degrees":21.5,"note":null,"command":"look up"}"#,
        r#"{"experiment":"weather","system":"ground","degrees":18,"wet":true}"#,
        r#"{"experiment":"ttcp","system":"zorb","type":"octet","size":0,"pin":"same","gbit_s":77.7}"#,
        r#"{"experiment":"cube","system":"zorb","type":"octet","calls_s":null,"oddity":"kept-here"}"#,
        "",
        "{half a line",
        r#"{"no":"experiment"}"#,
    ];
    let page = page_of(&rows.join("\n"));
    let document = parse(&page.html);
    let other = text(with_id(&document, "other").unwrap());
    for words in ["weather", "sky", "21.5", "ground", "yes", "look up"] {
        assert!(other.contains(words), "{words} is missing in {other}");
    }
    let throughput = text(with_id(&document, "ttcp").unwrap());
    assert!(throughput.contains("Rows that no plot shows") || throughput.contains("77,700"), "{throughput}");
    let cube = text(with_id(&document, "cube").unwrap());
    assert!(cube.contains("Rows that no plot shows") && cube.contains("kept-here"), "{cube}");
    let footer = text(elements(document.root(), "footer").next().unwrap());
    for words in [
        "machine.json: not there",
        "results.jsonl:6: not JSON at column 2",
        "results.jsonl:7: the field `experiment` is missing",
        "Not measured in this run: profile, rtt, whitebox, counts, size, demux, firstcall, concurrency, connections, images.",
    ] {
        assert!(footer.contains(words), "{words} is missing in {footer}");
    }
}

#[test]
fn a_run_without_rows_still_makes_a_page() {
    for results in ["", "\n\n", "not a result\n"] {
        let page = page_of(results);
        let document = parse(&page.html);
        assert_eq!(elements(document.root(), "section").count(), 0);
        assert_eq!(elements(document.root(), "nav").count(), 0);
        assert_eq!((page.plots.len(), page.not_measured.len()), (0, 12));
        assert!(with_id(&document, "not-measured").is_some());
    }
}

#[test]
fn a_file_of_rubbish_makes_no_page_of_rubbish() {
    let page = page_of(&"rubbish\n".repeat(1_000));
    let document = parse(&page.html);
    let footer = text(elements(document.root(), "footer").next().unwrap());
    assert!(footer.contains("results.jsonl:49:") && footer.contains("and 951 more"), "{footer}");
}

#[test]
fn a_busy_machine_is_said() {
    let busy = |machine: &str| Report::of(Some(machine.as_bytes()), b"").page().html.contains("was busy");
    assert!(busy(r#"{"busy":true}"#) && busy(r#"{"load":3.0}"#));
    assert!(!busy(r#"{"busy":false,"load":3.0}"#) && !busy("{}"));
}

/// Every text field of every row of the sample is replaced in turn by each of these.
const HOSTILE: &[&str] = &[
    "</style></svg><script>alert(1)</script>",
    "\" onload=\"alert(1)",
    "../../../etc/passwd",
    "\u{0}\u{1b}[31m\u{202e}",
    "ideographs: 並び替え並び替え並び替え並び替え並び替え並び替え並び替え並び替え並び替え並び替え",
];

#[test]
fn hostile_text_stays_text() {
    let long = "x".repeat(5_000);
    // One row of each kind is enough to reach every place that writes text.
    let sample = sample::results();
    let rows: Vec<serde_json::Value> =
        sample.lines().step_by(29).map(|line| serde_json::from_str(line).unwrap()).collect();
    for hostile in HOSTILE.iter().copied().chain([long.as_str()]) {
        for field in
            ["system", "transport", "type", "pin", "command", "lookup", "phase", "name", "side", "link"]
        {
            let mut text = String::new();
            for mut row in rows.clone() {
                row[field] = hostile.into();
                text.push_str(&format!("{row}\n"));
            }
            let machine =
                serde_json::json!({"cpu": hostile, "peers": {hostile: hostile}, hostile: [hostile]});
            let page = Report::of(Some(machine.to_string().as_bytes()), text.as_bytes()).page();
            let document = parse(&page.html);
            assert_eq!(elements(document.root(), "script").count(), 0);
            assert!(!page.html.contains(['\u{202e}', '\u{1b}']), "{field}");
            for plot in &page.plots {
                let plain = plot.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                assert!(plain && plot.id.len() < 110, "{:?}", plot.id);
            }
            if hostile.is_ascii() {
                for svg in elements(document.root(), "svg") {
                    assert_text_has_room(svg);
                }
            }
        }
    }
}

#[test]
fn hostile_numbers_draw_no_nonsense() {
    for number in ["0", "-1", "1e308", "1e-320", "5e-324", "null", "\"12\"", "[]", "18446744073709551615"] {
        let rows: String = sample::results()
            .lines()
            .step_by(5)
            .map(|line| {
                let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
                for (name, value) in row.as_object_mut().unwrap() {
                    if value.is_number() && name != "step" {
                        *value = serde_json::from_str(number).unwrap();
                    }
                }
                format!("{row}\n")
            })
            .collect();
        let page = page_of(&rows);
        parse(&page.html);
        for nonsense in ["NaN", "inf\"", "\"inf", ":inf"] {
            assert!(!page.html.contains(nonsense), "{number} gives {nonsense}");
        }
    }
}

/// The sample stays in the directory for tests' files, for whoever works on the page: `zorb bench report` draws it.
#[test]
fn a_directory_is_read_and_a_missing_one_named() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-sample");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("machine.json"), sample::machine()).unwrap();
    fs::write(directory.join("results.jsonl"), sample::results()).unwrap();
    let report = Report::read(&directory).unwrap();
    assert_eq!((report.rows(), report.remarks()), (sample::results().lines().count(), &[][..]));
    let missing = Report::read(&directory.join("none")).unwrap_err().to_string();
    assert!(missing.contains("results.jsonl"), "{missing}");
}

#[test]
fn plots_are_files_of_their_own_too() {
    for plot in sample_page().plots {
        let alone = plot.standalone();
        let document = parse(&alone);
        assert_eq!(document.root_element().tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        assert!(!alone.contains("var("), "{}: colours must be in it", plot.id);
    }
}

#[test]
fn png_files_have_their_words_drawn() {
    let plots = sample_page().plots;
    let painter = match Painter::new() {
        Ok(painter) => painter,
        // Without fonts there is nothing to draw with; then that must be what it says.
        Err(error) => return assert!(error.to_string().contains("fonts-dejavu-core"), "{error}"),
    };
    let png = painter.png(plots.iter().min_by_key(|plot| plot.standalone().len()).unwrap()).unwrap();
    let image = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!(image.width(), 3 * 424);
    // The title: dark on white in the upper part of the picture.
    let dark = image.pixels()[..image.width() as usize * 90].iter().filter(|pixel| pixel.red() < 100).count();
    assert!(dark > 500, "only {dark} dark pixels where the title should be");
}
