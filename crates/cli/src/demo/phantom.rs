//! Shepp-Logan head phantom: the picture that tomography is tested with.
//!
//! Ten ellipses, whose gray values add up where they overlap: L. A. Shepp and B. F. Logan, "The Fourier
//! reconstruction of a head section", IEEE Transactions on Nuclear Science 21(3), 1974; here with the higher
//! contrast of P. Toft, "The Radon Transform", 1996, known as the *modified* phantom. Each ellipse is given a
//! third axis, so that a head and not only a section can be sliced; the slice at height 0 is the published
//! phantom exactly.

use super::picture::Picture;
use super::window;

/// The whole of the 16-bit range stands for gray values from 0 to 1.
const WHITE: i32 = 65_535;

/// An ellipsoid about a vertical axis; lengths in half widths of the picture.
struct Ellipsoid {
    /// What it adds to the gray value inside, in tenths: whole numbers, so that sums are exact.
    tenths: i32,
    /// Half axis along x before the turn.
    a: f64,
    /// Half axis along y before the turn.
    b: f64,
    /// Half axis along z: ours, not published.
    c: f64,
    x: f64,
    y: f64,
    /// Turned counterclockwise by so many degrees.
    degrees: f64,
}

const fn ellipsoid(tenths: i32, [a, b, c]: [f64; 3], [x, y]: [f64; 2], degrees: f64) -> Ellipsoid {
    Ellipsoid { tenths, a, b, c, x, y, degrees }
}

const HEAD: [Ellipsoid; 10] = [
    ellipsoid(10, [0.69, 0.92, 0.81], [0.0, 0.0], 0.0), // skull
    ellipsoid(-8, [0.6624, 0.874, 0.78], [0.0, -0.0184], 0.0), // brain
    ellipsoid(-2, [0.11, 0.31, 0.22], [0.22, 0.0], -18.0), // right ventricle
    ellipsoid(-2, [0.16, 0.41, 0.28], [-0.22, 0.0], 18.0), // left ventricle
    ellipsoid(1, [0.21, 0.25, 0.41], [0.0, 0.35], 0.0),
    ellipsoid(1, [0.046, 0.046, 0.05], [0.0, 0.1], 0.0),
    ellipsoid(1, [0.046, 0.046, 0.05], [0.0, -0.1], 0.0),
    ellipsoid(1, [0.046, 0.023, 0.05], [-0.08, -0.605], 0.0),
    ellipsoid(1, [0.023, 0.023, 0.02], [0.0, -0.606], 0.0),
    ellipsoid(1, [0.023, 0.046, 0.02], [0.06, -0.605], 0.0),
];

/// An ellipsoid cut at one height: `A dx² + B dx dy + C dy² ≤ 1` inside.
struct Section {
    tenths: i32,
    x: f64,
    y: f64,
    quadratic: [f64; 3],
}

impl Ellipsoid {
    /// The cut at height `z`, if it is not empty.
    fn at(&self, z: f64) -> Option<Section> {
        let shrink = 1.0 - (z / self.c).powi(2);
        if shrink <= 0.0 {
            return None;
        }
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let (a, b) = (self.a * self.a * shrink, self.b * self.b * shrink);
        let quadratic = [
            cos * cos / a + sin * sin / b,
            2.0 * sin * cos * (1.0 / a - 1.0 / b),
            sin * sin / a + cos * cos / b,
        ];
        Some(Section { tenths: self.tenths, x: self.x, y: self.y, quadratic })
    }
}

/// The gray value at a point in tenths, from 0 to 10; x to the right, y upwards, both from -1 to 1.
fn tenths(sections: &[Section], x: f64, y: f64) -> i32 {
    let inside = sections.iter().filter(|section| {
        let (dx, dy) = (x - section.x, y - section.y);
        let [xx, xy, yy] = section.quadratic;
        xx * dx * dx + xy * dx * dy + yy * dy * dy <= 1.0
    });
    inside.map(|section| section.tenths).sum()
}

/// The slice at height `z` (-0.81 to 0.81 meet the head) in `size` by `size` pixels, sampled at the
/// pixels' centres.
pub(crate) fn slice(size: u32, z: f64) -> Picture {
    let sections: Vec<Section> = HEAD.iter().filter_map(|ellipsoid| ellipsoid.at(z)).collect();
    let position = |pixel: u32| (2.0 * f64::from(pixel) + 1.0) / f64::from(size) - 1.0;
    let samples = (0..size).flat_map(|row| {
        let sections = &sections;
        (0..size).map(move |column| {
            let tenths = tenths(sections, position(column), -position(row)).clamp(0, 10);
            // At most `WHITE`, so the conversion keeps the value.
            ((tenths * WHITE + 5) / 10) as u16
        })
    });
    Picture {
        name: format!("phantom {size}x{size} z={z:+.2}"),
        width: size,
        height: size,
        samples: samples.collect(),
        window: window::BRAIN,
    }
}

/// `count` slices of one size, evenly spaced through the part of the head where there is most to see; the
/// middle one of an odd number is the published phantom.
pub(crate) fn heights(count: u32) -> impl Iterator<Item = f64> {
    const REACH: f64 = 0.3;
    (0..count).map(move |i| match count {
        1 => 0.0,
        _ => REACH * (2.0 * f64::from(i) / f64::from(count - 1) - 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gray value, in tenths, at a point of the published phantom.
    fn at(x: f64, y: f64) -> i32 {
        let sections: Vec<_> = HEAD.iter().filter_map(|ellipsoid| ellipsoid.at(0.0)).collect();
        tenths(&sections, x, y)
    }

    #[test]
    fn known_points_of_the_modified_phantom() {
        assert_eq!(at(-0.95, 0.95), 0, "outside");
        assert_eq!(at(0.0, 0.9), 10, "skull");
        assert_eq!(at(0.0, 0.0), 2, "brain");
        assert_eq!(at(0.22, 0.0), 0, "right ventricle");
        assert_eq!(at(-0.22, 0.0), 0, "left ventricle");
        assert_eq!(at(0.0, 0.35), 3, "upper gray mass");
        assert_eq!(at(0.0, 0.1), 4, "where it overlaps the small disc");
        assert_eq!(at(0.0, -0.1), 3, "lower small disc");
        assert_eq!(at(-0.08, -0.605), 3);
        assert_eq!(at(0.0, -0.606), 3);
        assert_eq!(at(0.06, -0.605), 3);
    }

    #[test]
    fn the_ventricles_lean_outwards_at_the_top() {
        // The right one is turned by -18°: its upper tip lies to the right of its centre.
        assert_eq!(at(0.22 + 0.08, 0.25), 0);
        assert_eq!(at(0.22 - 0.08, 0.25), 3);
        assert_eq!(at(-0.22 - 0.10, 0.32), 0);
    }

    #[test]
    fn a_slice_has_these_values_and_no_others() {
        let picture = slice(128, 0.0);
        assert!(Picture::fits(picture.width, picture.height, picture.samples.len()));
        let mut values = picture.samples.clone();
        values.sort_unstable();
        values.dedup();
        // 0.1 is where the left ventricle and the upper gray mass overlap.
        assert_eq!(values, [0, 6_554, 13_107, 19_661, 26_214, 65_535]);
        // The top of the head is up: the upper gray mass is brighter than the brain below it.
        let at = |x: usize, y: usize| picture.samples[y * 128 + x];
        assert_eq!((at(64, 42), at(64, 64), at(64, 3)), (19_661, 13_107, 0));
    }

    #[test]
    fn slices_shrink_towards_the_crown_and_end_there() {
        let inside = |z| slice(64, z).samples.iter().filter(|&&sample| sample > 0).count();
        assert!(inside(0.0) > inside(0.4) && inside(0.4) > inside(0.7));
        assert_eq!(inside(0.82), 0);
    }

    #[test]
    fn heights_are_spread_evenly_around_the_middle() {
        assert_eq!(heights(1).collect::<Vec<_>>(), [0.0]);
        let five: Vec<_> = heights(5).collect();
        assert_eq!(five.len(), 5);
        assert!(five[2].abs() < 1e-12 && (five[0] + five[4]).abs() < 1e-12 && five[0] < five[1]);
    }
}
