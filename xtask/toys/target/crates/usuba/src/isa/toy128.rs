//! 128-bit registers of x86 under another name.

use super::{Target, sse};

pub static TOY128: Target = Target { name: "toy128", ..sse::SSE };
