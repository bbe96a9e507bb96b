//! Text in plots: how wide it is, where it breaks, and how labels keep out of each other's way.
//!
//! There is nobody to ask for a font's widths while an SVG is written. The estimate is DejaVu Sans's, which is
//! wider than the fonts that browsers prefer, so that what fits here fits there.

/// The size of all text in plots, in pixels of the plot's own scale.
pub(super) const SIZE: f64 = 12.0;

/// From one line's base to the next.
pub(super) const LINE: f64 = 15.0;

/// How wide a text is at most, in pixels at [`SIZE`].
pub(in crate::report) fn width(text: &str) -> f64 {
    text.chars().map(character_width).sum::<f64>() * SIZE
}

fn character_width(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | 'I' => 0.34,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.98,
        'A'..='Z' | '×' | '±' | '–' => 0.77,
        _ if character.is_ascii() || ('\u{a0}'..='\u{24f}').contains(&character) => 0.64,
        'μ' | '·' | '’' => 0.64,
        // Ideographs and whatever else: a full square.
        _ => 1.0,
    }
}

/// The text cut to a width, with an ellipsis where something is missing.
pub(in crate::report) fn shortened(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        if width(&short) + (character_width(character) + 1.0) * SIZE > room {
            break;
        }
        short.push(character);
    }
    short + "…"
}

/// The text in lines that fit, broken between words; a word that is too long is shortened.
pub(super) fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shortened(word, room)),
        }
    }
    lines
}

/// Places labels as near to where they would be as `gap` between neighbours allows, within `low` to `high`.
/// The result is in the order given. If there is not room for all, they share what there is.
pub(super) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let steps = wanted.len().saturating_sub(1) as f64;
    let gap = if steps > 0.0 { gap.min((high - low) / steps) } else { gap };
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    // With each label moved up by the gaps that come before it, "not too near" becomes "not out of order";
    // neighbours that are pool into a block at their mean.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (index, label) in order.iter().enumerate() {
        let mut block = (wanted[*label] - index as f64 * gap, 1);
        while let Some(&(mean, count)) = blocks.last().filter(|(mean, _)| *mean > block.0) {
            blocks.pop();
            let both = count + block.1;
            block = ((mean * count as f64 + block.0 * block.1 as f64) / both as f64, both);
        }
        blocks.push(block);
    }
    let places = blocks.iter().flat_map(|(mean, count)| std::iter::repeat_n(*mean, *count));
    let mut placed = vec![0.0; wanted.len()];
    for (index, (label, place)) in order.iter().zip(places).enumerate() {
        placed[*label] = place.max(low).min(high - steps * gap) + index as f64 * gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_and_broken_to_fit() {
        assert_eq!(shortened("zorb", 100.0), "zorb");
        let short = shortened(&"x".repeat(500), 100.0);
        assert!(short.ends_with('…') && width(&short) <= 100.0 && short.len() > 8, "{short}");
        let lines = wrapped(&format!("one two three four {}", "y".repeat(99)), 80.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line) <= 80.0), "{lines:?}");
        assert!(wrapped("", 80.0).is_empty());
    }

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        let wanted = [50.0, 10.0, 11.0, 12.0, 90.0];
        let placed = spread(&wanted, 10.0, 0.0, 100.0);
        assert_eq!((placed[0], placed[4]), (50.0, 90.0), "those with room stay");
        assert_eq!(placed[1..4], [1.0, 11.0, 21.0], "the others part around their middle");
    }

    #[test]
    fn labels_stay_inside() {
        let placed = spread(&[99.0, 100.0, 100.0], 10.0, 0.0, 100.0);
        assert_eq!(placed, [80.0, 90.0, 100.0]);
        let crowded = spread(&[5.0; 21], 10.0, 0.0, 100.0);
        assert_eq!((crowded[0], crowded[20]), (0.0, 100.0));
        assert_eq!(spread(&[3.0], 10.0, 0.0, 100.0), [3.0]);
        assert!(spread(&[], 10.0, 0.0, 100.0).is_empty());
    }
}
