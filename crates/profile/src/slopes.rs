//! Numbers that lie along a line over another number of the row, as annotations:
//! `max(2000, min(9000, round(5000 + (weight - 120) * 3.5 + histogram(-40: 30, 0: 28, 45))))`.
//!
//! Without the line, the numbers of one range of the other column would have nothing to do with one another, and the largest ones
//! would meet at random. The line is that of least squares, and the histogram holds the distances from it.

use crate::describe::Model;
use crate::histogram::{Number, Precision, ends, real_histogram};
use crate::weave::{Weaver, whole};
use litepress_rows::Affinity;

/// A line of least squares, through a point with rounded coordinates.
struct Line {
    x: f64,
    y: f64,
    slope: f64,
}

impl Weaver<'_> {
    /// Returns the numbers of a column in these sampled rows along the line over another column; `None` if no line fits.
    pub(crate) fn along(&self, column: usize, other: usize, rows: &[usize]) -> Option<String> {
        const ENOUGH: usize = 30;
        if !matches!((&self.models[column], &self.models[other]), (Model::Numbers, Model::Numbers)) {
            return None;
        }
        let number = |column: usize, row: usize| self.view.columns[column].numbers[row];
        let pairs: Option<Vec<(f64, f64)>> =
            rows.iter().map(|&row| number(other, row).zip(number(column, row))).collect();
        let pairs = pairs.filter(|pairs| pairs.len() >= ENOUGH)?;
        let line = line(&pairs)?;
        let distances: Vec<f64> = pairs.iter().map(|(x, y)| y - line.y - (x - line.x) * line.slope).collect();
        let mut sorted: Vec<f64> = pairs.iter().map(|(_, y)| *y).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (least, largest) = ends(&sorted, sorted[0], sorted[sorted.len() - 1], self.precision);
        let precision = Precision { bins: 10, ..self.precision };
        let at = self.table.ordinary_columns().nth(column)?;
        let (distances, digits) = match self.stats(column).reals {
            // SQLite's `round` gives a real number: the column makes it an integer again.
            0 if matches!(self.table.columns[at].affinity, Affinity::Integer | Affinity::Numeric) => {
                (whole(distances.iter().map(|distance| distance.round()).collect(), precision), 0)
            }
            0 => return None,
            _ => {
                let outer = distances.iter().fold((f64::MAX, f64::MIN), |ends, of| (ends.0.min(*of), ends.1.max(*of)));
                let digits = sorted.iter().map(|number| decimals(*number)).max()?;
                (real_histogram(distances, outer.0, outer.1, precision).0, digits)
            }
        };
        let name = self.name(other);
        let Line { x, y, slope } = line;
        Some(format!(
            "max({least:?}, min({largest:?}, round({y:?} + ({name} - {x:?}) * {slope:?} + {distances}, {digits})))"
        ))
    }
}

/// Returns the line through these points, if it explains a fifth of the variance.
fn line(pairs: &[(f64, f64)]) -> Option<Line> {
    const EXPLAINED: f64 = 0.2;
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum::<f64>();
    let (of_x, of_y, of_both) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    let explained = of_both * of_both / (of_x * of_y);
    // No line is the numbers of a single row.
    let slope = (of_both / of_x).vague();
    let x = mean_x.vague();
    let y = (mean_y + (x - mean_x) * slope).vague();
    (explained >= EXPLAINED && [slope, x, y].iter().all(|number| number.is_finite())).then_some(Line { x, y, slope })
}

/// Returns the number of decimals of a number, 6 at most.
fn decimals(number: f64) -> i32 {
    const MOST: i32 = 6;
    let is_whole = |digits: &i32| {
        let unit = 10_f64.powi(*digits);
        (number * unit).round() / unit == number
    };
    (0..MOST).find(is_whole).unwrap_or(MOST)
}
