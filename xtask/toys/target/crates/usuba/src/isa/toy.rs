//! 128-bit registers of x86 under another name.

use super::{Target, sse};

pub static TOY: Target = Target { name: "toy", ..sse::SSE };
