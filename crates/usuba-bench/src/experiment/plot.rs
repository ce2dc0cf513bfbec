//! SVG plots of an experiment.
//!
//! With an axis, one plot per cell: a curve for each value of the other parameter. Without an axis,
//! one plot per column: a bar for each cell with its interval, and a cross for each published number.

use plotters::prelude::*;

use super::Experiment;
use super::lines::{Line, Lines};
use super::markdown::groups;
use super::results::{Cell, Measure, Results};

const SIZE: (u32, u32) = (900, 480);

/// File name (without folder) and text of each plot; the names start with the name of the experiment.
///
/// # Errors
/// The errors of the plotting library.
pub fn plots(
    experiment: &Experiment,
    results: &Results,
    lines: &Lines,
) -> Result<Vec<(String, String)>, String> {
    let name = &*lines.stem();
    let mut all = Vec::new();
    match &experiment.axis {
        Some(axis) => {
            for cell in &results.cells {
                if let Some(text) = curves(experiment, results, cell, axis)? {
                    let parts = [name, &cell.cipher, &cell.slicing, &cell.target, &cell.compiler];
                    all.push((file_name(&parts), text));
                }
            }
        }
        None => {
            for measure in experiment.measures(results.quick) {
                if let Some(text) = bars(experiment, lines, &measure)? {
                    all.push((file_name(&[name, &measure.text]), text));
                }
            }
        }
    }
    Ok(all)
}

/// Replaces all characters except letters, digits and hyphens.
fn file_name(parts: &[&str]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = parts.join("-").chars().map(plain).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-") + ".svg"
}

/// A point of a curve.
struct Point {
    x: f64,
    /// Cycles per byte.
    y: f64,
    /// The fastest and the slowest process.
    ends: [f64; 2],
}

impl Point {
    fn new(cell: &Cell, x: f64, variant: &str) -> Option<Point> {
        let times = cell.times(variant)?;
        let processes = || times.processes.iter().copied();
        let low = processes().fold(times.median, f64::min);
        let high = processes().fold(times.median, f64::max);
        Some(Point { x, y: times.median, ends: [low, high] })
    }
}

/// Cycles per byte along the axis, with a bar from the fastest to the slowest process.
fn curves(
    experiment: &Experiment,
    results: &Results,
    cell: &Cell,
    axis: &str,
) -> Result<Option<String>, String> {
    let mut series: Vec<(String, Vec<Point>)> = groups(experiment, results.quick, axis)
        .into_iter()
        .map(|(name, variants)| {
            let mut points: Vec<Point> = variants
                .iter()
                .filter_map(|(x, variant)| Point::new(cell, f64::from(*x), variant))
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            (name, points)
        })
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let right = series.iter().flat_map(|(_, points)| points).map(|point| point.x);
    let right = right.fold(2.0, f64::max);
    if series.is_empty() {
        return Ok(None);
    }
    // The baseline of the others, constant along the axis.
    if let Some(first) = cell.entries.first()
        && let [Some(left), Some(right)] = [1.0, right].map(|x| Point::new(cell, x, &first.variant))
    {
        series.insert(0, (first.variant.clone(), vec![left, right]));
    }
    let tops = series.iter().flat_map(|(_, points)| points.iter().map(|point| point.ends[1]));
    let top = tops.fold(0.0, f64::max) * 1.1;
    let title = format!(
        "{} {} {}, {}: cycles per byte",
        cell.cipher, cell.slicing, cell.target, cell.compiler
    );
    let mut text = String::new();
    draw(|| {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d((1.0..right).log_scale(), 0.0..top)?;
        chart.configure_mesh().x_desc(axis).y_desc("cycles/byte").draw()?;
        for (number, (name, points)) in series.iter().enumerate() {
            let color = Palette99::pick(number).to_rgba();
            chart
                .draw_series(LineSeries::new(
                    points.iter().map(|point| (point.x, point.y)),
                    color.stroke_width(2),
                ))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
            let bars = points.iter().map(|Point { x, ends: [low, high], .. }| {
                PathElement::new([(*x, *low), (*x, *high)], color.stroke_width(1))
            });
            chart.draw_series(bars.collect::<Vec<_>>())?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .background_style(WHITE)
            .border_style(BLACK)
            .draw()?;
        root.present()?;
        Ok(())
    })?;
    Ok(Some(text))
}

/// A bar for each cell.
fn bars(
    experiment: &Experiment,
    lines: &Lines,
    measure: &Measure,
) -> Result<Option<String>, String> {
    let bars: Vec<&Line> = lines.lines.iter().filter(|line| line.column == measure.text).collect();
    if bars.is_empty() {
        return Ok(None);
    }
    let known = |line: &Line| line.published.iter().map(|beside| beside.value).collect::<Vec<_>>();
    let ends = |line: &Line| line.interval.map(|[_, high]| high);
    let tops =
        bars.iter().flat_map(|line| known(line).into_iter().chain([line.value]).chain(ends(line)));
    let top = tops.fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.3;
    let mut colors: Vec<String> = Vec::new();
    let kinds: Vec<String> =
        bars.iter().map(|line| format!("{} {}", line.target, line.compiler)).collect();
    for kind in &kinds {
        if !colors.contains(kind) {
            colors.push(kind.clone());
        }
    }
    let title = format!("{}: {}", experiment.title, measure.title());
    let width = (120 + 28 * bars.len() as u32).max(SIZE.0);
    let mut text = String::new();
    draw(|| {
        let root = SVGBackend::with_string(&mut text, (width, SIZE.1)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(70)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..bars.len() as f64, 0.0..top)?;
        chart.configure_mesh().disable_x_mesh().disable_x_axis().y_desc(measure.title()).draw()?;
        for (number, kind) in colors.iter().enumerate() {
            let color = Palette99::pick(number).to_rgba();
            let of_kind = bars.iter().enumerate().filter(|(at, _)| kinds[*at] == *kind);
            chart
                .draw_series(of_kind.map(|(at, line)| {
                    let x = at as f64;
                    Rectangle::new([(x + 0.15, 0.0), (x + 0.85, line.value)], color.filled())
                }))?
                .label(kind)
                .legend(move |(x, y)| {
                    Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled())
                });
        }
        let intervals = bars.iter().enumerate().filter_map(|(at, line)| {
            let [low, high] = line.interval?;
            let x = at as f64 + 0.5;
            Some(PathElement::new([(x, low), (x, high)], BLACK.stroke_width(1)))
        });
        chart.draw_series(intervals.collect::<Vec<_>>())?;
        let crosses = bars.iter().enumerate().flat_map(|(at, line)| {
            let cross = move |value| Cross::new((at as f64 + 0.5, value), 6, BLACK.stroke_width(2));
            known(line).into_iter().map(cross)
        });
        let crosses: Vec<_> = crosses.collect();
        if !crosses.is_empty() {
            chart
                .draw_series(crosses)?
                .label("published")
                .legend(|(x, y)| Cross::new((x + 6, y), 5, BLACK.stroke_width(2)));
        }
        // Names stand below their bars, rotated so that they fit.
        let font = ("sans-serif", 12).into_font().transform(FontTransform::Rotate90);
        for (at, line) in bars.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(at as f64 + 0.4, 0.0));
            let name = format!("{} {}", line.subject, line.slicing);
            root.draw(&Text::new(name, (x + 8, y + 6), font.clone()))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE)
            .border_style(BLACK)
            .draw()?;
        root.present()?;
        Ok(())
    })?;
    Ok(Some(text))
}

/// Runs a drawing; writing to a text cannot fail, except for arithmetic errors.
pub(super) fn draw(
    drawing: impl FnOnce() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<(), String> {
    drawing().map_err(|error| format!("cannot draw: {error}"))
}
