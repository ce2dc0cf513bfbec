//! The chart of other libraries in the README, from the results of `scripts/peers`.
//!
//! ```text
//! bench/peers.toml  ──→  docs/images/peers-light.svg, docs/images/peers-dark.svg
//! ```
//!
//! A row is a cipher on AVX2, a dot is a library at its time divided by ours, so a dot on the
//! right of the line at 1 is a library that is slower. The upper panel shows messages of 16 KiB,
//! the lower panel one block under a key that is set up. Positions are computed here and rounded to
//! pixels, so that equal results give equal bytes.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use toml::{Table, Value};

use xtask::repo::{Finding, Repo};

use crate::peers::RESULTS;

/// The ciphers of the chart, from the top; longer keys and batches of Skein are in the table only.
const CIPHERS: [&str; 14] = [
    "ChaCha20",
    "Salsa20",
    "Serpent-128",
    "Camellia-128",
    "Noekeon",
    "SM4",
    "AES-128",
    "DES",
    "Triple DES",
    "Ascon permutation",
    "Threefish-256",
    "Threefish-512",
    "Threefish-1024",
    "Skein-512",
];

/// The instruction set of all rows.
const WIDTH: &str = "avx2";

/// The two panels: the column of the results, and the title.
const PANELS: [(&str, &str); 2] =
    [("bulk", "16 KiB: their time / ours"), ("block", "One block: their time / ours")];

/// The ends of the axis, and its ticks.
const AXIS: (f64, f64) = (0.02, 60.0);
const TICKS: [f64; 9] = [0.02, 0.05, 0.1, 0.25, 0.5, 2.0, 5.0, 10.0, 20.0];

/// Pixels: width, left end and right end of the axis, a row, the title of a panel, its axis.
const SIZE: i32 = 840;
const LEFT: i32 = 236;
const RIGHT: i32 = 820;
const ROW: i32 = 18;
const TITLE: i32 = 34;
const FOOT: i32 = 28;

/// Colours: background, text, grid, the line at 1, and one for each library.
pub(crate) struct Theme {
    pub name: &'static str,
    pub back: RGBColor,
    pub text: RGBColor,
    pub grid: RGBColor,
    pub dots: [RGBColor; 8],
}

pub(crate) const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        back: RGBColor(255, 255, 255),
        text: RGBColor(31, 35, 40),
        grid: RGBColor(216, 222, 228),
        dots: [
            RGBColor(0, 114, 178),
            RGBColor(213, 94, 0),
            RGBColor(0, 158, 115),
            RGBColor(204, 121, 167),
            RGBColor(120, 94, 240),
            RGBColor(150, 120, 0),
            RGBColor(90, 90, 90),
            RGBColor(30, 170, 200),
        ],
    },
    Theme {
        name: "dark",
        back: RGBColor(13, 17, 23),
        text: RGBColor(230, 237, 243),
        grid: RGBColor(48, 54, 61),
        dots: [
            RGBColor(86, 180, 233),
            RGBColor(255, 140, 66),
            RGBColor(60, 210, 160),
            RGBColor(235, 150, 200),
            RGBColor(170, 150, 255),
            RGBColor(240, 228, 66),
            RGBColor(170, 170, 170),
            RGBColor(120, 230, 240),
        ],
    },
];

/// Compares the charts with the results, or writes them.
///
/// # Errors
/// A chart cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let Some(results) = repo.get(RESULTS) else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    for theme in &THEMES {
        let path = format!("docs/images/peers-{}.svg", theme.name);
        let wanted = match chart(&results.text, theme) {
            Ok(text) => text,
            Err(error) => return Ok(vec![Finding::new(RESULTS, 0, error)]),
        };
        findings.extend(written(repo, &path, &wanted, bless)?);
    }
    Ok(findings)
}

/// Compares a picture with its text, or writes it.
pub(crate) fn written(
    repo: &Repo,
    path: &str,
    text: &str,
    bless: bool,
) -> io::Result<Option<Finding>> {
    let file = repo.root.join(path);
    if std::fs::read_to_string(&file).is_ok_and(|found| found == text) {
        return Ok(None);
    }
    if bless {
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(file, text)?;
        return Ok(None);
    }
    let error = "differs from its data: run `BLESS=1 cargo xtask charts`";
    Ok(Some(Finding::new(path, 0, error)))
}

/// Names among the versions that are no libraries.
const TOOLS: [&str; 3] = ["processor", "gcc", "rustc"];

/// The results that the chart shows.
struct Data {
    libraries: Vec<String>,
    /// Cipher, number of the library, and the ratios of both panels.
    dots: Vec<(usize, usize, [Option<f64>; 2])>,
    caption: Vec<String>,
}

impl Data {
    fn parse(results: &str) -> Result<Data, String> {
        let results: Table = results.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let rows = results.get("result").and_then(Value::as_array).ok_or("there are no results")?;
        let versions = results.get("versions").and_then(Value::as_table).ok_or("no versions")?;
        let mut libraries: Vec<String> = Vec::new();
        let mut dots = Vec::new();
        for row in rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str);
            let cipher = text("cipher").ok_or("a result has no `cipher`")?;
            let library = text("library").ok_or("a result has no `library`")?;
            let Some(cipher) = CIPHERS.iter().position(|name| *name == cipher) else { continue };
            let ratios = PANELS.map(|(key, _)| row.get(WIDTH)?.get(key)?.as_float());
            let number = libraries.iter().position(|name| name == library).unwrap_or_else(|| {
                libraries.push(library.to_string());
                libraries.len() - 1
            });
            dots.push((cipher, number, ratios));
        }
        if libraries.len() > THEMES[0].dots.len() {
            return Err(format!("the chart has no colour for {} libraries", libraries.len()));
        }
        let mut caption = vec![
            "AVX2, one core; right of the line at 1 our library is faster.".to_string(),
            "Where a library has no mode for a cipher, single blocks are compared on both sides."
                .to_string(),
            String::new(),
        ];
        // Processor and compilers, and the libraries of the chart.
        let shown = |name: &String| TOOLS.contains(&&**name) || libraries.contains(name);
        for (name, version) in versions.iter().filter(|(name, _)| shown(name)) {
            let part = format!("{name} {}; ", version.as_str().unwrap_or_default());
            for word in part.split_inclusive(' ') {
                let line = caption.len() - 1;
                match caption[line].len() + word.len() > 130 {
                    true => caption.push(word.to_string()),
                    false => caption[line].push_str(word),
                }
            }
        }
        Ok(Data { libraries, dots, caption })
    }
}

/// The pixel of a ratio; ratios beyond the ends stand at the ends.
fn place(ratio: f64) -> i32 {
    let part = (ratio.clamp(AXIS.0, AXIS.1) / AXIS.0).ln() / (AXIS.1 / AXIS.0).ln();
    LEFT + (part * f64::from(RIGHT - LEFT)).round() as i32
}

/// The text of one chart.
fn chart(results: &str, theme: &Theme) -> Result<String, String> {
    let data = Data::parse(results)?;
    let rows = CIPHERS.len() as i32 * ROW;
    let caption = 16 * data.caption.len() as i32 + 12;
    let height = 30 + 2 * (TITLE + rows + FOOT) + caption;
    drawn((SIZE as u32, height as u32), |root| draw(root, &data, theme))
}

/// The text of an SVG picture of this size.
pub(crate) fn drawn(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn std::error::Error>>,
) -> Result<String, String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root).map_err(|error| format!("cannot draw: {error}"))?;
        root.present().map_err(|error| format!("cannot draw: {error}"))?;
    }
    Ok(text + "\n")
}

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw(root: &Area<'_>, data: &Data, theme: &Theme) -> Result<(), Box<dyn std::error::Error>> {
    let label = |text: &str, at: (i32, i32), size: i32, side: HPos| {
        let style = ("sans-serif", 1.24 * f64::from(size)).into_font().color(&theme.text);
        root.draw(&Text::new(text.to_string(), at, style.pos(Pos::new(side, VPos::Center))))
    };
    root.fill(&theme.back)?;
    let mut x = 12;
    for (library, color) in data.libraries.iter().zip(theme.dots) {
        root.draw(&Circle::new((x, 15), 5, color.filled()))?;
        label(library, (x + 10, 15), 13, HPos::Left)?;
        x += 34 + 8 * library.len() as i32;
    }
    let rows = CIPHERS.len() as i32 * ROW;
    let mut top = 30;
    for (panel, (_, title)) in PANELS.iter().enumerate() {
        let (first, end) = (top + TITLE, top + TITLE + rows);
        label(title, (LEFT, top + 16), 15, HPos::Left)?;
        for tick in TICKS {
            let line = vec![(place(tick), first), (place(tick), end)];
            root.draw(&PathElement::new(line, theme.grid))?;
            label(&tick.to_string(), (place(tick), end + 12), 12, HPos::Center)?;
        }
        let line = vec![(place(1.0), first), (place(1.0), end)];
        root.draw(&PathElement::new(line, theme.text.stroke_width(2)))?;
        label("1", (place(1.0), end + 12), 12, HPos::Center)?;
        for (row, cipher) in CIPHERS.iter().enumerate() {
            let y = first + row as i32 * ROW + ROW / 2;
            label(cipher, (LEFT - 10, y), 13, HPos::Right)?;
            root.draw(&PathElement::new(vec![(LEFT, y), (RIGHT, y)], theme.grid))?;
        }
        for (cipher, library, ratios) in &data.dots {
            let Some(ratio) = ratios[panel] else { continue };
            let y = first + *cipher as i32 * ROW + ROW / 2;
            root.draw(&Circle::new((place(ratio), y), 5, theme.dots[*library].filled()))?;
        }
        top = end + FOOT;
    }
    for (number, line) in data.caption.iter().enumerate() {
        label(line.trim_end(), (12, top + 12 + 16 * number as i32), 11, HPos::Left)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "[versions]\ngcc = \"12\"\n[[result]]\ncipher = \"DES\"\nlibrary = \"L\"\n\
        mode = \"ctr\"\navx2 = { bulk = 1.5, block = 0.5 }\n";

    #[test]
    fn equal_results_give_equal_bytes() {
        let one = chart(RESULT, &THEMES[0]).expect("it is a chart");
        assert_eq!(chart(RESULT, &THEMES[0]).as_deref(), Ok(&*one));
        assert!(one.contains("gcc 12;"), "{one}");
        assert_ne!(chart(&RESULT.replace("0.5", "0.7"), &THEMES[0]), Ok(one));
        assert!(chart("[versions]\n", &THEMES[0]).is_err());
    }

    #[test]
    fn the_axis_is_logarithmic() {
        assert_eq!((place(AXIS.0), place(AXIS.1)), (LEFT, RIGHT));
        assert_eq!(place(1000.0), RIGHT);
        assert!((place(0.5) - place(0.25) - place(2.0) + place(1.0)).abs() <= 1);
    }

    #[test]
    fn a_stale_chart_is_found() {
        let folder = std::env::temp_dir().join(format!("usuba-charts-{}", std::process::id()));
        let mut repo = Repo::sample(&[(RESULTS, RESULT)]);
        repo.root.clone_from(&folder);
        assert_eq!(check(&repo, false).expect("nothing is written").len(), 2);
        assert_eq!(check(&repo, true).expect("charts are written"), []);
        assert_eq!(check(&repo, false).expect("nothing is written"), []);
        let path = folder.join("docs/images/peers-dark.svg");
        std::fs::write(path, "old").expect("the folder is there");
        assert_eq!(check(&repo, false).expect("nothing is written").len(), 1);
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }
}
