//! Memory as regions that do not overlap: the buffers of the caller, and the frame.
//!
//! ```text
//! vmovdqa [rsi + 32], ymm0      32 bytes at offset 32 of the region that rsi points to
//! mov rbx, [rsp + 8]            the frame, at an offset from where the stack pointer was at entry
//! ```
//!
//! An address is a *pointer*, a region and an offset, and never a number: the contract does not
//! say where buffers lie. So an access outside of its region is always found, whatever lies beside
//! it, and nothing depends on where things are.

use std::collections::BTreeMap;

use super::cell::Cell;
use super::{Fault, Rule};

/// A region and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    pub region: Region,
    pub offset: i64,
}

/// What a pointer points into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Region {
    /// Offset 0 is where the stack pointer was at entry.
    Frame,
    /// A buffer, by number.
    Buffer(u32),
    /// What a register held at entry; nothing is there.
    Entry(u16),
    /// Where the function returns to; nothing is there.
    Caller,
}

impl Pointer {
    pub fn plus(self, offset: i64) -> Pointer {
        Pointer { offset: self.offset.wrapping_add(offset), ..self }
    }
}

/// What a buffer may be used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    /// What it holds at entry is not known.
    Write,
    /// In place: results replace what was there.
    Both,
}

/// A buffer of the caller.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub access: Access,
    /// Its address is a multiple of this many bytes.
    pub align: u64,
    /// Its bits, the least significant bit of the first byte first.
    pub cells: Vec<Cell>,
}

/// Bytes of the frame below the stack pointer at entry, at most.
const FRAME: i64 = 1 << 20;

/// Bytes below the stack pointer that a function may use and that nobody else touches.
const RED_ZONE: i64 = 128;

/// Bytes above the stack pointer at entry that belong to the frame: the return address.
const RETURN: i64 = 8;

pub struct Memory {
    buffers: Vec<Buffer>,
    /// The lowest byte first.
    frame: Vec<Cell>,
    /// Bytes of it that lie below the stack pointer at entry; it grows as it is used.
    below: i64,
    /// Bytes of arguments above the return address.
    arguments: i64,
    /// Pointers in the frame, by the offset of the first of eight bytes.
    pointers: BTreeMap<i64, Pointer>,
    /// What the entry stack pointer is modulo [`PHASES`], if that has been assumed.
    phase: u64,
    /// Whether anything depended on the assumption.
    pub phase_matters: bool,
    /// The lowest offset in the frame that was written.
    lowest: i64,
}

/// The largest alignment of the frame that is understood.
pub const PHASES: u64 = 64;

/// What the calling convention says about the stack pointer at entry: it is 8 modulo this.
pub const KNOWN_PHASES: u64 = 16;

/// What was loaded.
pub enum Loaded {
    Cells(Vec<Cell>),
    Pointer(Pointer),
}

impl Memory {
    /// `arguments` are what the caller has put above the return address. The stack pointer at
    /// entry is `phase` modulo [`PHASES`].
    pub fn new(buffers: Vec<Buffer>, arguments: &[Pointer], phase: u64) -> Memory {
        let (below, above) = (1 << 9, RETURN + 8 * arguments.len() as i64);
        let mut memory = Memory {
            buffers,
            frame: vec![Cell::UNSET; 8 * (below + above) as usize],
            below,
            arguments: 8 * arguments.len() as i64,
            pointers: BTreeMap::new(),
            phase,
            phase_matters: false,
            lowest: 0,
        };
        let caller = Pointer { region: Region::Caller, offset: 0 };
        for (at, &pointer) in [caller].iter().chain(arguments).enumerate() {
            memory.keep(8 * at as i64, pointer);
        }
        memory
    }

    /// What is at an address. `stack` is the offset of the stack pointer.
    pub fn load(&mut self, at: Pointer, bytes: usize, stack: i64) -> Result<Loaded, Fault> {
        let cells = match at.region {
            Region::Frame => {
                self.check_frame(at.offset, bytes, stack)?;
                let first = self.in_frame(at.offset);
                if let Some(&pointer) = self.pointers.get(&at.offset).filter(|_| bytes == 8) {
                    return Ok(Loaded::Pointer(pointer));
                }
                self.frame[first..first + 8 * bytes].to_vec()
            }
            Region::Buffer(number) => {
                let first = self.in_buffer(number, at.offset, bytes)?;
                self.buffers[number as usize].cells[first..first + 8 * bytes].to_vec()
            }
            _ => return Err(self.nowhere(at)),
        };
        Ok(Loaded::Cells(cells))
    }

    /// Writes bits, eight to a byte.
    pub fn store(&mut self, at: Pointer, cells: &[Cell], stack: i64) -> Result<(), Fault> {
        let bytes = cells.len() / 8;
        let target = match at.region {
            Region::Frame => {
                self.check_frame(at.offset, bytes, stack)?;
                self.forget(at.offset, bytes);
                let first = self.in_frame(at.offset);
                &mut self.frame[first..first + cells.len()]
            }
            Region::Buffer(number) => {
                let first = self.in_buffer(number, at.offset, bytes)?;
                let buffer = &mut self.buffers[number as usize];
                if buffer.access == Access::Read {
                    let what = format!("it writes to `{}`, which is only read", buffer.name);
                    return Err(Fault::new(Rule::ReadOnly, what));
                }
                &mut buffer.cells[first..first + cells.len()]
            }
            _ => return Err(self.nowhere(at)),
        };
        target.copy_from_slice(cells);
        Ok(())
    }

    /// Writes a pointer; only the frame may hold any.
    pub fn store_pointer(&mut self, at: Pointer, what: Pointer, stack: i64) -> Result<(), Fault> {
        if at.region != Region::Frame {
            let what = "it writes an address to a buffer".to_string();
            return Err(Fault::new(Rule::Unsupported, what));
        }
        self.check_frame(at.offset, 8, stack)?;
        self.forget(at.offset, 8);
        self.keep(at.offset, what);
        Ok(())
    }

    fn keep(&mut self, offset: i64, pointer: Pointer) {
        let first = self.in_frame(offset);
        // An address is no secret, and no number.
        self.frame[first..first + 64].fill(Cell::UNSET);
        self.pointers.insert(offset, pointer);
    }

    /// Pointers of which a part is overwritten are none any more.
    fn forget(&mut self, offset: i64, bytes: usize) {
        self.lowest = self.lowest.min(offset);
        let range = offset - 7..offset + bytes as i64;
        let gone: Vec<i64> = self.pointers.range(range).map(|(&at, _)| at).collect();
        for at in gone {
            self.pointers.remove(&at);
        }
    }

    /// Forgets what is below the stack pointer, where a function that was called has been.
    pub fn clobber(&mut self, stack: i64) {
        if stack <= self.lowest {
            return;
        }
        let (lowest, bytes) = (self.lowest, (stack - self.lowest) as usize);
        self.forget(lowest, bytes);
        let first = self.in_frame(lowest);
        self.frame[first..first + 8 * bytes].fill(Cell::OPAQUE);
    }

    /// Where a byte of the frame is, which has been checked.
    fn in_frame(&mut self, offset: i64) -> usize {
        if offset < -self.below {
            let more = (-offset).max(2 * self.below) - self.below;
            let new = std::iter::repeat_n(Cell::UNSET, 8 * more as usize);
            self.frame.splice(0..0, new);
            self.below += more;
        }
        8 * (self.below + offset) as usize
    }

    fn check_frame(&self, offset: i64, bytes: usize, stack: i64) -> Result<(), Fault> {
        let end = offset.checked_add(bytes as i64);
        if offset < -FRAME {
            let what = format!("its frame is larger than {FRAME} bytes");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        if offset < stack - RED_ZONE {
            let what = format!("it uses {} bytes below the frame", stack - RED_ZONE - offset);
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        if end.is_none_or(|end| end > RETURN + self.arguments) {
            let what = format!("it uses the caller's frame, {offset} bytes from the entry");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        Ok(())
    }

    fn in_buffer(&self, number: u32, offset: i64, bytes: usize) -> Result<usize, Fault> {
        let buffer = &self.buffers[number as usize];
        let size = buffer.cells.len() / 8;
        let inside = usize::try_from(offset).ok().filter(|&at| at <= size && bytes <= size - at);
        inside.map(|at| 8 * at).ok_or_else(|| {
            let name = &buffer.name;
            let what = format!("{bytes} bytes at {offset} are not inside of `{name}`[{size}]");
            Fault::new(Rule::OutOfBounds, what)
        })
    }

    fn nowhere(&self, at: Pointer) -> Fault {
        let what = match at.region {
            Region::Caller => "it uses the return address as data's",
            _ => "it uses what a register happened to hold at entry as an address",
        };
        Fault::new(Rule::OutOfBounds, what.to_string())
    }

    /// Whether an address is a multiple of `align`, a power of two.
    pub fn is_aligned(&mut self, at: Pointer, align: u64) -> bool {
        match at.region {
            Region::Frame => {
                self.phase_matters |= align > KNOWN_PHASES;
                align <= PHASES && (at.offset as u64).wrapping_add(self.phase).is_multiple_of(align)
            }
            Region::Buffer(number) => {
                let buffer = &self.buffers[number as usize];
                align <= buffer.align && (at.offset as u64).is_multiple_of(align)
            }
            _ => false,
        }
    }

    /// A pointer into the frame rounded down to a multiple of `align`, a power of two; `None` for
    /// others, whose number is not known.
    pub fn rounded_down(&mut self, at: Pointer, align: u64) -> Option<Pointer> {
        if at.region != Region::Frame || align > PHASES {
            return None;
        }
        self.phase_matters |= align > KNOWN_PHASES;
        let over = (at.offset as u64).wrapping_add(self.phase) % align;
        Some(at.plus(-(over as i64)))
    }

    /// The bits of a buffer.
    pub fn buffer(&self, number: usize) -> &[Cell] {
        &self.buffers[number].cells
    }

    /// Bytes below the stack pointer at entry that were written.
    pub fn frame_bytes(&self) -> u64 {
        -self.lowest as u64
    }

    /// The bits of the frame that belong to the function: below its return address, the lowest
    /// first. Nobody else is told to clear them.
    pub fn own_frame(&self) -> &[Cell] {
        let place = |offset: i64| 8 * (self.below + offset) as usize;
        &self.frame[place(self.lowest)..place(0)]
    }
}
