//! `usubac lsp`: the language server protocol over standard input and output.
//!
//! ```text
//! editor ─messages→ server ─┬─ buffers (texts), one analysis for each open file → answers
//!                           └─ costs (a second thread) → inlay hints
//! ```
//!
//! The answers are in the crate `usuba-ide`; this folder translates messages. One thread reads
//! messages in order and answers each, so that an answer belongs to the text before it. Edits are
//! collected: the server analyses a file when no message waits, or when a request needs it. Every
//! open file is a program of its own, with its includes as other buffers have them, or the disk.
//!
//! - `server`: the loop over messages, and which file is analysed when.
//! - `buffers`: open files, and the files that they include.
//! - `answers`: one function for each request.
//! - `costs`: the thread that compiles nodes; an edit drops its work.
//! - `options`: the settings of the user.
//! - `protocol`: the types of messages, and translations into them.
//! - `transport`: messages over the standard streams.

mod answers;
mod buffers;
mod costs;
mod options;
mod protocol;
mod server;
mod transport;

use crate::{Failure, fault};

/// Serves one client, until it says goodbye.
pub fn run() -> Result<(), Failure> {
    fault::stage("serving an editor");
    let (connection, threads) = transport::stdio()?;
    let served = server::serve(connection);
    // After an error in a message its thread has the reason.
    threads.join()?;
    served
}
