//! The text of lists of numbers: tables, tuples of constants, indices, permutations.
//!
//! ```text
//! Shuffle(x, [2,6,10,14,  1,5,9,13,    →    Shuffle(x, [2,6,10,14, 1,5, 9,13,
//!   0,4,8,12, 3,7,11,15])                               0,4, 8,12, 3,7,11,15])
//! ```
//!
//! Rows are the text's, and one blank more between two groups is kept. In a list of several rows
//! the columns are aligned. A list in one row that is too long gets rows of one length, at most 16.

use super::*;

/// The longest row that a list without rows in the text gets.
const ROW: usize = WIDTH - 10;

/// A number of a list, as the text has it.
pub(super) struct Number {
    offset: u32,
    pub text: String,
    /// Blanks before it.
    gap: usize,
    /// It begins a row.
    row: bool,
}

impl Printer<'_> {
    /// The numbers in a range of the text, or these if there is no text.
    pub(super) fn spelled(&self, span: Span, texts: impl Iterator<Item = String>) -> Vec<Number> {
        let Some(source) = &self.source else {
            let offset = span.start;
            return texts.map(|text| Number { offset, text, gap: 0, row: false }).collect();
        };
        let mut end = span.start as usize;
        let mut numbers = Vec::new();
        for token in source.numbers(span.start, span.end) {
            let offset = token.span.start;
            let between = &source.text[end..offset as usize];
            let row = !numbers.is_empty() && between.contains('\n');
            let gap = between.len() - between.trim_end_matches(' ').len();
            let text = source.token_text(token).to_string();
            end = token.span.end as usize;
            numbers.push(Number { offset, text, gap, row });
        }
        numbers
    }

    /// The indices of a list that is nothing but numbers.
    fn constant_indices(&self, all: &[AExpr]) -> Option<Vec<Number>> {
        let constants: Option<Vec<(u64, Span)>> = all
            .iter()
            .map(|index| match index {
                AExpr::Int(value, span) => Some((*value, *span)),
                _ => None,
            })
            .collect();
        let constants = constants?;
        let span = constants.first()?.1.to(constants.last()?.1);
        Some(self.spelled(span, constants.iter().map(|(value, _)| value.to_string())))
    }

    pub(super) fn index_list(&mut self, all: &[AExpr]) {
        if let Some(numbers) = self.constant_indices(all) {
            return self.numbers(&numbers, 0, 0);
        }
        for (i, member) in all.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.may_break("");
            }
            self.index(member, 0);
        }
    }

    pub(super) fn list_length(&self, all: &[AExpr]) -> usize {
        let members: usize = match self.constant_indices(all) {
            Some(numbers) => numbers.iter().map(|n| n.text.len() + n.gap.min(1)).sum(),
            None => all.iter().map(|index| self.index_length(index, 0)).sum(),
        };
        members + all.len() - 1
    }

    /// Numbers with commas and usually `gap` blanks between them, at least `least` characters wide.
    pub(super) fn numbers(&mut self, numbers: &[Number], gap: usize, least: usize) {
        let length: usize = numbers.iter().map(|n| n.text.len().max(least) + 1 + gap).sum();
        let longest = numbers.iter().map(|n| n.text.len()).max().unwrap_or(0).max(least);
        // A comment before the first number breaks the line as well.
        let rows = numbers.iter().any(|n| n.row || self.next_comment(n.offset).is_some());
        let divides = |n: &usize| numbers.len().is_multiple_of(*n);
        let shorter = (1..=16).rev().filter(|n| n * (longest + 1 + gap) <= ROW);
        let row = match rows || length <= ROW {
            true => usize::MAX,
            false => {
                shorter.clone().find(divides).filter(|&n| n > 1).or(shorter.max()).unwrap_or(1)
            }
        };
        let width = if rows || row < numbers.len() { longest } else { least };
        self.aligned(|p| {
            for (i, number) in numbers.iter().enumerate() {
                if i > 0 {
                    p.put(",");
                    if number.row || i % row == 0 {
                        p.break_at("", p.depth);
                        p.must_break();
                    } else {
                        let padding = width.saturating_sub(number.text.len());
                        let kept = number.gap.saturating_sub(padding).clamp(gap, gap + 1);
                        p.put(&"  "[..kept]);
                    }
                }
                p.leaf(number.offset, &format!("{:>width$}", number.text));
            }
        });
    }
}
