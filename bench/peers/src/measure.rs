//! Measures one cipher of several libraries, in turn in one process.
//!
//! Every library gets the same key, start and message, and must give the same output. Then all take
//! turns: a call that is not timed, and a few timed calls. The tenth percentile of the calls of one
//! library is its time: other load on the machine affects all libraries alike, and mostly the slower
//! calls.

use std::time::{Duration, Instant};

use crate::adapter::{Peer, State};
use crate::ciphers::Cipher;
use usuba_peers::turns::{tenth, ticks};

/// Bytes of a message in bulk, and of a long one.
pub const BULK: usize = 16 << 10;
pub const LONG: usize = 256 << 10;

/// Chained calls for single blocks: each waits for its predecessor.
const CHAIN: u64 = 16;

/// The times of one library, in ticks of the time-stamp counter.
#[derive(Clone, Debug)]
pub struct Time {
    pub library: String,
    pub version: String,
    pub call: String,
    /// One message of [`BULK`] and of [`LONG`] bytes with a key that is set up.
    pub bulk: f64,
    pub long: f64,
    /// A message of one block with such a key, and with a new one.
    pub block: f64,
    pub fresh: f64,
}

/// Pseudo-random bytes, the same in every run.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// `length` rounded up to whole blocks.
fn whole(cipher: &Cipher, length: usize) -> usize {
    length.div_ceil(cipher.block) * cipher.block
}

/// A message with room for its answer, both beginning at a cache line.
struct Message {
    memory: Vec<u8>,
    at: usize,
    length: usize,
}

impl Message {
    fn new(length: usize) -> Message {
        let room = length.next_multiple_of(64);
        let memory = bytes(2 * room + 64, 7);
        let at = memory.as_ptr().align_offset(64);
        Message { memory, at, length }
    }

    fn parts(&mut self) -> (&[u8], &mut [u8]) {
        let room = self.length.next_multiple_of(64);
        let (input, output) = self.memory[self.at..].split_at_mut(room);
        (&input[..self.length], &mut output[..self.length])
    }
}

struct Side<'a> {
    peer: &'a Peer,
    state: Box<dyn State>,
    samples: [Vec<f64>; 4],
}

/// Times of all `peers`, which have `cipher` in one mode, in their order. A peer that does not
/// have it after all is left out.
///
/// # Errors
/// The output of a library differs from the first one, or a call fails.
pub fn measure(cipher: &Cipher, peers: &[&Peer], budget: Duration) -> Result<Vec<Time>, String> {
    let (key, mut start) = (bytes(cipher.key, 1), bytes(cipher.start, 2));
    // The counter must not overflow.
    if let Some(last) = start.last_mut() {
        *last = 0;
    }
    let mut sides: Vec<Side> = Vec::new();
    for &peer in peers {
        if let Some(state) = (peer.init)(&key) {
            sides.push(Side { peer, state, samples: Default::default() });
        }
    }
    let lengths = [BULK, LONG, cipher.block].map(|length| whole(cipher, length));
    let mut messages = lengths.map(Message::new);
    for message in &mut messages {
        agree(&mut sides, &start, message)?;
    }
    let explain = |error| format!("{}: {error}", cipher.name);
    let begin = Instant::now();
    let mut turns = 0;
    while turns < 12 || (turns < 2000 && begin.elapsed() < budget) {
        for side in &mut sides {
            let [bulk, long, single] = &mut messages;
            side.calls(0, &start, bulk, 3).map_err(explain)?;
            if turns % 8 == 0 {
                side.calls(1, &start, long, 1).map_err(explain)?;
            }
            side.single(&key, &start, single).map_err(explain)?;
        }
        turns += 1;
    }
    Ok(sides.into_iter().map(Side::time).collect())
}

/// Whether all sides give the output of the first one.
fn agree(sides: &mut [Side], start: &[u8], message: &mut Message) -> Result<(), String> {
    let mut expected: Option<Vec<u8>> = None;
    for side in sides {
        let (input, output) = message.parts();
        output.fill(0);
        let name = format!("{} of {}", side.peer.call, side.peer.library);
        side.state.run(start, input, output).map_err(|error| format!("{name}: {error}"))?;
        match &expected {
            None => expected = Some(output.to_vec()),
            Some(expected) if expected == output => {}
            Some(_) => return Err(format!("{name} answers something else")),
        }
    }
    Ok(())
}

impl Side<'_> {
    /// Some calls with one message, of which the first is not timed.
    fn calls(
        &mut self,
        which: usize,
        start: &[u8],
        message: &mut Message,
        times: usize,
    ) -> Result<(), String> {
        let (input, output) = message.parts();
        self.state.run(start, input, output)?;
        for _ in 0..times {
            let begin = ticks();
            self.state.run(start, input, output)?;
            self.samples[which].push((ticks() - begin) as f64);
        }
        Ok(())
    }

    /// Chains of calls with one block: with one key, and with a key each.
    fn single(&mut self, key: &[u8], start: &[u8], message: &mut Message) -> Result<(), String> {
        let (input, output) = message.parts();
        // The start of the next call depends on the output of the last one, and is unchanged.
        let (mut start, mut key) = (start.to_vec(), key.to_vec());
        let mut input = input.to_vec();
        self.state.run(&start, &input, output)?;
        let begin = ticks();
        for _ in 0..CHAIN {
            self.state.run(&start, &input, output)?;
            depend(&mut start, output);
            depend(&mut input, output);
        }
        self.samples[2].push((ticks() - begin) as f64 / CHAIN as f64);
        let begin = ticks();
        for _ in 0..CHAIN {
            let mut state = (self.peer.init)(&key).ok_or("it takes no key any more")?;
            state.run(&start, &input, output)?;
            depend(&mut key, output);
            depend(&mut start, output);
            depend(&mut input, output);
        }
        self.samples[3].push((ticks() - begin) as f64 / CHAIN as f64);
        Ok(())
    }

    fn time(self) -> Time {
        let [bulk, long, block, fresh] = self.samples.map(tenth);
        let Peer { library, version, call, .. } = self.peer;
        let (library, version, call) = (library.clone(), version.clone(), call.clone());
        Time { library, version, call, bulk, long, block, fresh }
    }
}

/// Makes `to` depend on `from` without changing its value.
fn depend(to: &mut [u8], from: &[u8]) {
    if let ([first, ..], [answer, ..]) = (to, from) {
        *first ^= std::hint::black_box(*answer) & std::hint::black_box(0);
    }
}
