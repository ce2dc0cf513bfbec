//! Plots of the chapter: the ratios of all claims, the stages of Threefish, the steps of signing.

use plotters::prelude::*;

use super::Machine;
use crate::difference::FLOOR;
use crate::experiment::lines::Line;
use crate::experiment::plot::draw;
use crate::experiment::published::Post;

/// The panels of the plot of all claims: title and experiments.
const PANELS: [(&str, &[&str]); 4] = [
    ("Interleaving", &["interleave-ipc", "interleave-factors", "interleave-grid"]),
    ("Scheduling of bitsliced code", &["bitslice-sched"]),
    ("Scheduling of m-sliced code", &["mslice-sched"]),
    ("Inlining and unrolling", &["inline-unroll"]),
];

/// The stages of the series.
const STAGES: [&str; 5] =
    ["scalar", "first SIMD: calls", "inlined", "aligned loads", "key on the fly"];

/// The level at which programs of others stand in the plot of steps.
const PROGRAMS: &str = "-O2";

const WIDTH: u32 = 900;
const ROW: u32 = 15;

/// All plots: names of files and texts.
pub fn all(machines: &[Machine], programs: &Post) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for (at, (title, experiments)) in PANELS.iter().enumerate() {
        if let Some(text) = forest(machines, title, experiments)? {
            all.push((format!("studies-claims-{}.svg", at + 1), text));
        }
    }
    for machine in machines {
        if let Some(text) = stages(machine)? {
            all.push((format!("studies-threefish-{}.svg", machine.name), text));
        }
        if let Some(text) = steps(machine, programs)? {
            all.push((format!("studies-signing-{}.svg", machine.name), text));
        }
    }
    Ok(all)
}

/// A ratio of times with a published one: a point with its interval, and a cross.
fn forest(
    machines: &[Machine],
    title: &str,
    experiments: &[&str],
) -> Result<Option<String>, String> {
    let mut rows: Vec<(String, usize, &Line)> = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        for name in experiments {
            let Some(lines) = machine.experiment(name) else { continue };
            let told = |line: &&Line| {
                line.processes.is_some() && line.published.iter().any(|b| b.against.is_some())
            };
            for line in lines.lines.iter().filter(told) {
                let Line { subject, slicing, target, compiler, column, .. } = line;
                rows.push((format!("{subject} {slicing} {target} {compiler}, {column}"), at, line));
            }
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let published = |line: &Line| line.published.iter().map(|b| b.value).collect::<Vec<f64>>();
    let values = |line: &Line| {
        let ends = line.interval.unwrap_or([line.value; 2]);
        published(line).into_iter().chain(ends).collect::<Vec<f64>>()
    };
    let (left, right) = span(rows.iter().flat_map(|(.., line)| values(line)));
    let height = 90 + ROW * rows.len() as u32;
    let count = rows.len() as f64;
    let mut text = String::new();
    draw(|| {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(8)
            .margin_left(330)
            .x_label_area_size(36)
            .build_cartesian_2d((left..right).log_scale(), 0.0..count)?;
        chart.configure_mesh().disable_y_mesh().disable_y_axis().x_desc("speed-up").draw()?;
        let band = [(1.0 / (1.0 + FLOOR), 0.0), (1.0 + FLOOR, count)];
        chart.draw_series([Rectangle::new(band, BLACK.mix(0.15).filled())])?;
        for (at, (label, machine, line)) in rows.iter().enumerate() {
            let y = count - at as f64 - 0.5;
            let color = Palette99::pick(*machine).to_rgba();
            let [low, high] = line.interval.unwrap_or([line.value; 2]);
            let thin = color.stroke_width(1);
            chart.draw_series([PathElement::new([(low, y), (high, y)], thin)])?;
            chart.draw_series([Circle::new((line.value, y), 3, color.filled())])?;
            let crosses = published(line).into_iter();
            chart.draw_series(
                crosses.map(|value| Cross::new((value, y), 4, BLACK.stroke_width(1))),
            )?;
            let (_, pixel) = chart.backend_coord(&(1.0, y));
            root.draw(&Text::new(label.clone(), (10, pixel - 6), ("sans-serif", 11)))?;
        }
        root.present()?;
        Ok(())
    })?;
    Ok(Some(text))
}

/// The least and the largest value, with some room, for an axis of logarithms.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) =
        values.fold((1.0, 1.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    (least / 1.1, most * 1.1)
}

/// A curve: its name, and at some places of the axis a value with its ends.
struct Curve {
    name: String,
    points: Vec<(usize, f64, [f64; 2])>,
}

/// The speed-ups of the stages of Threefish, by builds.
fn stages(machine: &Machine) -> Result<Option<String>, String> {
    let Some(lines) = machine.experiment("threefish-simd") else { return Ok(None) };
    let own = || lines.lines.iter().filter(|line| line.column == "speedup");
    let mut curves: Vec<Curve> = Vec::new();
    let mut crosses = vec![(0, 1.0)];
    for line in own() {
        let Some(at) = STAGES.iter().position(|stage| *stage == line.subject) else { continue };
        let name = format!("{}, {}", line.compiler, line.target);
        let point = (at, line.value, line.interval.unwrap_or([line.value; 2]));
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
        crosses.extend(line.published.iter().map(|beside| (at, beside.value)));
    }
    // The published numbers stand beside several builds.
    crosses.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    crosses.dedup();
    let title = "Threefish-256, one block in SIMD registers: speed-up over scalar code";
    lines_plot(title, "speed-up", &STAGES, &curves, &crosses).map(Some)
}

/// The instructions of the steps of signing over the instructions of the baseline, by levels, on the
/// first processor; programs of others as constants.
fn steps(machine: &Machine, programs: &Post) -> Result<Option<String>, String> {
    let Some(lines) = machine.experiment("nacl-sign") else { return Ok(None) };
    let own = || lines.lines.iter().filter(|line| line.column == "instructions");
    let Some(first) = own().next() else { return Ok(None) };
    let mut steps: Vec<&str> = Vec::new();
    let mut curves: Vec<Curve> = Vec::new();
    let mut crosses = Vec::new();
    for line in own() {
        if !steps.contains(&&*line.subject) {
            steps.push(&line.subject);
        }
        let at = steps.iter().position(|step| *step == line.subject).unwrap_or_default();
        let base = own().find(|base| {
            (&base.subject, &base.target, &base.compiler)
                == (&first.subject, &line.target, &line.compiler)
        });
        let Some(base) = base else { continue };
        if line.target != first.target {
            continue;
        }
        let name = format!("{} {}", line.target, line.compiler);
        let value = line.value / base.value;
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push((at, value, [value; 2])),
            None => curves.push(Curve { name, points: vec![(at, value, [value; 2])] }),
        }
    }
    for program in &programs.rows {
        let base = own().find(|line| {
            (&line.subject, &line.target) == (&first.subject, &first.target)
                && line.compiler == PROGRAMS
        });
        let ratio = base.and_then(|base| Some(program.values.get(PROGRAMS)? / base.value));
        let Some(ratio) = ratio else { continue };
        let points = [0, steps.len() - 1].map(|at| (at, ratio, [ratio; 2])).to_vec();
        curves.push(Curve { name: format!("{} {PROGRAMS}", program.name), points });
    }
    // Published cycles over the cycles of the published baseline, at the same level.
    let cycles = |line: &Line| {
        let own = line.published.iter().filter(|beside| beside.file == "sparknacl-steps");
        own.map(|beside| (beside.row.clone(), beside.column.clone(), beside.value))
            .collect::<Vec<_>>()
    };
    let bases: Vec<_> =
        own().flat_map(cycles).filter(|(_, column, _)| column == "Baseline").collect();
    for line in own() {
        let at = steps.iter().position(|step| *step == line.subject).unwrap_or_default();
        for (level, _, value) in cycles(line) {
            let base = bases.iter().find(|(row, ..)| *row == level);
            crosses.extend(base.map(|(_, _, base)| (at, value / base)));
        }
    }
    let title = "Signing: instructions over the baseline; crosses: published cycles over theirs";
    lines_plot(title, "over the baseline", &steps, &curves, &crosses).map(Some)
}

/// Curves over named places, with crosses.
fn lines_plot(
    title: &str,
    axis: &str,
    places: &[&str],
    curves: &[Curve],
    crosses: &[(usize, f64)],
) -> Result<String, String> {
    let ends = curves.iter().flat_map(|curve| &curve.points).flat_map(|point| point.2);
    let (low, high) = span(ends.chain(crosses.iter().map(|cross| cross.1)));
    let right = places.len() as f64 - 0.5;
    let mut text = String::new();
    draw(|| {
        let root = SVGBackend::with_string(&mut text, (WIDTH, 560)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(150)
            .y_label_area_size(56)
            .build_cartesian_2d(-0.5..right, (low..high).log_scale())?;
        chart.configure_mesh().disable_x_mesh().disable_x_axis().y_desc(axis).draw()?;
        for (number, curve) in curves.iter().enumerate() {
            let color = Palette99::pick(number).to_rgba();
            let points = curve.points.iter().map(|(at, value, _)| (*at as f64, *value));
            chart
                .draw_series(LineSeries::new(points, color.stroke_width(2)))?
                .label(&curve.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
            let bars = curve.points.iter().map(|(at, _, [low, high])| {
                let x = *at as f64;
                PathElement::new([(x, *low), (x, *high)], color.stroke_width(1))
            });
            chart.draw_series(bars.collect::<Vec<_>>())?;
        }
        let crosses = crosses
            .iter()
            .map(|(at, value)| Cross::new((*at as f64, *value), 5, BLACK.stroke_width(2)));
        chart
            .draw_series(crosses.collect::<Vec<_>>())?
            .label("published")
            .legend(|(x, y)| Cross::new((x + 6, y), 5, BLACK.stroke_width(2)));
        let font = ("sans-serif", 12).into_font().transform(FontTransform::Rotate90);
        for (at, place) in places.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(at as f64, low));
            root.draw(&Text::new(place.to_string(), (x + 6, y + 6), font.clone()))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        root.present()?;
        Ok(())
    })?;
    Ok(text)
}
