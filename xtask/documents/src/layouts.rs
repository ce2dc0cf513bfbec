//! The picture of register layouts in the book: where block 0 lies in one SSE register.
//!
//! ```text
//! V  ████████········      lanes:     block 0 fills the first one
//! H  █···█···█···█···      elements:  block 0 has one bit in each
//! ```
//!
//! Bits stand in the order of memory: byte 0 on the left, and in a byte the least significant bit.

use std::io;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use usuba::isa::{self, Layout, Target};

use xtask::repo::{Finding, Repo};

use crate::charts::{THEMES, Theme, drawn, written};

/// The rows: title, layout, and the legend, in which `{}` is the number of blocks.
const ROWS: [(&str, Layout, &str); 4] = [
    ("V", Layout::Lanes(16), "word 0 of {} blocks: one lane of 16 bits for each block"),
    ("H", Layout::Elements(16), "word 0 of {} blocks: element i of 8 bits holds bit i of each"),
    ("B", Layout::Bits, "bit 0 of word 0 of {} blocks: one bit for each block"),
    ("W", Layout::Vectors { lane: 32, words: 4 }, "words 0 to 3 of {} block, in lanes of 32 bits"),
];

/// Pixels: width, left end of the registers, a bit, a row, the strip of a register.
const SIZE: u32 = 760;
const LEFT: i32 = 48;
const BIT: i32 = 5;
const ROW: i32 = 58;
const STRIP: i32 = 22;

/// The target of the picture.
fn sse() -> &'static Target {
    isa::find("sse").expect("it is a target")
}

/// The block that owns a bit of the register, and the bits of a lane or element.
fn owner(layout: Layout, bit: i32) -> (i32, i32) {
    let size = sse().bits as i32;
    match layout {
        Layout::Bits => (bit, 1),
        Layout::Words => (0, size),
        Layout::Lanes(lane) => (bit / i32::from(lane), i32::from(lane)),
        Layout::Elements(m) => (bit % (size / i32::from(m)), size / i32::from(m)),
        Layout::Vectors { lane, words } => {
            (bit / (i32::from(lane) * i32::from(words)), i32::from(lane))
        }
    }
}

/// Compares the pictures with the layouts, or writes them.
///
/// # Errors
/// A picture cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for theme in &THEMES {
        let size = (SIZE, (ROWS.len() as i32 * ROW + 30) as u32);
        let text = drawn(size, |root| picture(root, theme)).map_err(io::Error::other)?;
        let path = format!("docs/book/src/images/layouts-{}.svg", theme.name);
        findings.extend(written(repo, &path, &text, bless)?);
    }
    Ok(findings)
}

fn picture(
    root: &crate::charts::Area<'_>,
    theme: &Theme,
) -> Result<(), Box<dyn std::error::Error>> {
    let label = |text: &str, at: (i32, i32), size: f64| {
        let style = ("sans-serif", size).into_font().color(&theme.text);
        root.draw(&Text::new(text.to_string(), at, style.pos(Pos::new(HPos::Left, VPos::Center))))
    };
    root.fill(&theme.back)?;
    label("One SSE register of 128 bits; block 0 is coloured.", (LEFT, 14), 16.0)?;
    for (row, (name, layout, legend)) in ROWS.into_iter().enumerate() {
        let top = 30 + row as i32 * ROW;
        label(name, (16, top + STRIP / 2), 20.0)?;
        let size = sse().bits as i32;
        let owns = |bit: i32| owner(layout, bit).0 == 0;
        let unit = owner(layout, 0).1;
        let mut first = 0;
        for end in 1..=size {
            // A strip has one colour, and ends with its lane or element.
            let ends = unit > 1 && end % unit == 0;
            if end < size && !ends && owns(end) == owns(first) {
                continue;
            }
            let (left, right) = (LEFT + first * BIT, LEFT + end * BIT);
            let color = if owns(first) { theme.dots[0] } else { theme.grid };
            let corners = [(left, top), (right - i32::from(ends), top + STRIP)];
            root.draw(&Rectangle::new(corners, color.filled()))?;
            first = end;
        }
        let blocks = sse().lanes(layout).to_string();
        label(&legend.replace("{}", &blocks), (LEFT, top + STRIP + 13), 15.0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_owns_the_same_number_of_bits() {
        for (name, layout, _) in ROWS {
            let blocks = sse().lanes(layout) as i32;
            let size = sse().bits as i32;
            for block in 0..blocks {
                let owned = (0..size).filter(|&bit| owner(layout, bit).0 == block).count();
                assert_eq!(owned as i32 * blocks, size, "{name}");
            }
        }
    }
}
