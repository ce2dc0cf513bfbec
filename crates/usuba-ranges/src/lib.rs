//! Public numbers of which only ranges and linear relations are known.
//!
//! ```text
//! n = 128 q + r, 0 <= r < 128        n >> 7 is q, n & 127 is r
//! n - 128 >= 0                       if q >= 1, and only then
//! ```
//!
//! The machines of `usuba_object` compute lengths, counters of loops and offsets of addresses with
//! them.
//!
//! - `forms`: sums of variables with factors.
//! - `ranges`: ranges of variables, and the answers to questions about forms.
//! - `relations`: bounds of forms by relations of their variables.
//! - `unknowns`: the variables in use, names of forms, and questions.

mod forms;
mod ranges;
mod relations;
mod unknowns;

pub use forms::{Form, VARIABLES, gcd};
pub use ranges::{Range, Ranges, Split, Verdict};
pub use relations::replaced;
pub use unknowns::{Asked, Unknowns};
