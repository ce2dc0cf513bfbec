//! Messages over standard input and output, on two threads.
//!
//! ```text
//! Content-Length: 46\r\n
//! \r\n
//! {"jsonrpc":"2.0","id":1,"method":"shutdown"...
//! ```
//!
//! The reader is ours because `lsp-server` allocates as many bytes as a header claims, and a wrong
//! header would abort the program. This reader refuses a claim above [`MOST`], and allocates for
//! the bytes that arrive.

use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, Message};

use crate::Failure;

/// The longest message in bytes: a program of several MiB, with every character escaped.
const MOST: u64 = 64 << 20;

/// The longest line of a header in bytes.
const MOST_HEADER: u64 = 4096;

/// The threads between a connection and the standard streams.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// A connection over standard input and output.
///
/// # Errors
/// The system starts no thread.
pub fn stdio() -> Result<(Connection, Threads), Failure> {
    let (connection, Connection { sender, receiver }) = Connection::memory();
    let no_thread = |error| Failure::program(format!("cannot start a thread: {error}"));
    let read = move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input)? {
            let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
            // A server that is gone has told its reason.
            if sender.send(message).is_err() || is_exit {
                break;
            }
        }
        Ok(())
    };
    let write = move || {
        let mut output = io::stdout().lock();
        receiver.iter().try_for_each(|message| message.write(&mut output))
    };
    let reader = thread::Builder::new().spawn(read).map_err(no_thread)?;
    let writer = thread::Builder::new().spawn(write).map_err(no_thread)?;
    Ok((connection, Threads { reader, writer }))
}

impl Threads {
    /// Waits until the connection is closed in both directions.
    ///
    /// # Errors
    /// The reason for which a thread ended early.
    pub fn join(self) -> Result<(), Failure> {
        let ended = |thread: JoinHandle<io::Result<()>>, action: &str| match thread.join() {
            Ok(result) => {
                result.map_err(|error| Failure::program(format!("cannot {action}: {error}")))
            }
            // The message of the panic is on standard error.
            Err(_) => Err(Failure::program(format!("cannot {action}"))),
        };
        ended(self.reader, "read a message")?;
        ended(self.writer, "write a message")
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The next message; none at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let Some(length) = length(input)? else { return Ok(None) };
    if length > MOST {
        let text = format!("its header claims {length} bytes, and messages have at most {MOST}");
        return Err(invalid(text));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        let text = format!("it ends after {} of {length} bytes", body.len());
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
    }
    let message = serde_json::from_slice(&body);
    message.map(Some).map_err(|error| invalid(format!("it is no JSON-RPC: {error}")))
}

/// The length in the header of the next message; none at the end of the input.
fn length(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.take(MOST_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let malformed = || invalid(format!("its header has the line {line:?}"));
        let text = line.strip_suffix("\r\n").ok_or_else(malformed)?;
        if text.is_empty() {
            let missing = || invalid("its header has no `Content-Length`".to_string());
            return length.ok_or_else(missing).map(Some);
        }
        let (name, value) = text.split_once(':').ok_or_else(malformed)?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| malformed())?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_wrong_ones_refused() {
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!("content-length: {}\r\nX: y\r\n\r\n{body}", body.len());
        let mut input = text.as_bytes();
        assert!(
            matches!(read(&mut input), Ok(Some(Message::Notification(n))) if n.method == "exit")
        );
        assert!(matches!(read(&mut input), Ok(None)));
        let long = format!("Content-Length: {}\r\n\r\n", MOST + 1);
        for (text, part) in [
            (&*long, "at most"),
            ("Content-Length: 99999999999999999999\r\n\r\n", "99999999999999999999"),
            ("Content-Length: -1\r\n\r\n", "-1"),
            ("Content-Length: 5\r\n\r\n{}", "after 2 of 5 bytes"),
            ("Content-Length: 2\r\n\r\n{}", "no JSON-RPC"),
            ("Content-Length: 2\n\n{}", "Content-Length: 2\\n"),
            ("X: y\r\n\r\n{}", "no `Content-Length`"),
            (&"x".repeat(10_000), "xxx"),
        ] {
            let error = read(&mut text.as_bytes()).expect_err(part).to_string();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
