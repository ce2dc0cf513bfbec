//! The calls of a case: buffers of symbols, exported functions, and their expected results.

use usuba_bits::cell::{Bits, Cell};
use usuba_ciphers::modes::Bytes;
use usuba_equiv::miter::{self, Decision};
use usuba_equiv::value_numbering::Graph;
use usuba_library::declarations::Access as Declared;
use usuba_object::elf::Object;
use usuba_object::functions::Functions;
use usuba_object::memory::Access;
use usuba_object::trial::{Argument, Call, Content, Data, Trial};

use super::symbols::{Byte, Known, Symbols, bytes};
use crate::exported;

/// A buffer of a run, by its number.
#[derive(Clone, Copy)]
pub struct Room(usize);

/// An argument of a call.
pub enum Given {
    Room(Room),
    Number(usize),
}

/// The execution of a case.
pub struct Run<'a> {
    known: &'a Known<'a>,
    source: usize,
    pub trial: Trial<'a>,
    buffers: Vec<Data>,
    /// Bytes of an address.
    address: usize,
}

impl<'a> Run<'a> {
    /// A run in which functions of several sources have the one with this number.
    pub fn new(known: &'a Known<'a>, source: usize, object: &'a Object) -> Run<'a> {
        let mut functions = Functions::new(&known.callees, &known.several, object);
        functions.points = known.points.clone();
        let trial = Trial::new(object, Bits::new(Graph::new(None)), functions);
        let address = object.processor().address();
        Run { known, source, trial, buffers: Vec::new(), address }
    }

    fn buffer(&mut self, name: &str, content: Content) -> Room {
        let access = Access::Read;
        self.buffers.push(Data { name: name.to_string(), align: 1, access, content });
        Room(self.buffers.len() - 1)
    }

    /// A buffer of free bytes.
    pub fn text(&mut self, name: &str, bytes: usize) -> Room {
        let (bits, functions) = self.trial.symbols();
        let cells = (0..8 * bytes).map(|_| functions.parameter(bits)).collect();
        self.buffer(name, Content::Bits(cells))
    }

    /// A buffer for results.
    pub fn room(&mut self, name: &str, bytes: usize) -> Room {
        self.buffer(name, Content::Bits(vec![Cell::UNSET; 8 * bytes]))
    }

    /// A buffer with this content.
    pub fn constant(&mut self, name: &str, values: &[u8]) -> Room {
        let bytes = self.symbols().numbers(values);
        self.holding(name, &bytes)
    }

    /// A buffer with these bytes.
    pub fn holding(&mut self, name: &str, bytes: &[Byte]) -> Room {
        self.buffer(name, Content::Bits(bytes.as_flattened().to_vec()))
    }

    /// A buffer with the content of others, one behind the other.
    pub fn joined(&mut self, name: &str, rooms: &[Room]) -> Room {
        let bits = rooms.iter().flat_map(|room| self.buffers[room.0].bits().to_vec()).collect();
        self.buffer(name, Content::Bits(bits))
    }

    /// A key that a function has set up, and its bytes.
    ///
    /// # Errors
    /// As [`Run::call`].
    pub fn keyed(&mut self, init: &str, bytes: usize) -> Result<(Room, Room), String> {
        let (text, words) = (self.text("bytes", bytes), self.state(init)?);
        self.call(init, &[at(words), at(text), number(bytes)])?;
        Ok((words, text))
    }

    /// A buffer for the state that is the first parameter of a function.
    ///
    /// # Errors
    /// It has none of a fixed size.
    pub fn state(&mut self, function: &str) -> Result<Room, String> {
        let declared = self.known.declared.get(function);
        let first = declared.and_then(|function| function.parameters.first()?.memory.as_ref());
        let bytes = first.and_then(|memory| memory.bytes.fixed());
        let bytes = bytes.ok_or_else(|| format!("`{function}` has no state"))?;
        Ok(self.room("state", bytes as usize))
    }

    /// A buffer of numbers of eight bytes.
    pub fn lengths(&mut self, name: &str, values: &[usize]) -> Room {
        self.numbers(name, values, self.address)
    }

    /// A buffer of numbers that have this number of bytes each.
    pub fn numbers(&mut self, name: &str, values: &[usize], bytes: usize) -> Room {
        let bits = &self.trial.symbols().0;
        let number = |&value: &usize| bits.number(value as u64, 8 * bytes);
        let cells = values.iter().flat_map(number).collect();
        self.buffer(name, Content::Bits(cells))
    }

    pub fn addresses(&mut self, name: &str, rooms: &[Room]) -> Room {
        let all = rooms.iter().map(|room| room.0).collect();
        self.buffer(name, Content::Addresses(all))
    }

    /// The bytes of a buffer.
    pub fn bytes(&self, room: Room) -> Vec<Byte> {
        bytes(self.buffers[room.0].bits())
    }

    pub fn symbols(&mut self) -> Symbols<'_> {
        let (bits, functions) = self.trial.symbols();
        Symbols { known: self.known, source: self.source, bits, functions }
    }

    /// Calls an exported function; a status must say that it has succeeded.
    pub fn call(&mut self, name: &str, given: &[Given]) -> Result<(), String> {
        let returned = self.returned(name, given)?;
        match self.known.declared[name].returns == "int" {
            true => {
                let zeros = self.trial.symbols().0.number(0, 32);
                self.expect_status(name, returned.as_deref(), &zeros)
            }
            false => Ok(()),
        }
    }

    /// Calls an exported function that returns one status if a condition holds, and else 0.
    pub fn call_refused(
        &mut self,
        name: &str,
        given: &[Given],
        (condition, status): (Cell, i32),
    ) -> Result<(), String> {
        let returned = self.returned(name, given)?;
        let bits = &mut self.trial.symbols().0;
        let wanted: Vec<Cell> = bits.number(status as u32 as u64, 32);
        let wanted: Vec<Cell> = wanted.into_iter().map(|bit| bits.and(bit, condition)).collect();
        self.expect_status(name, returned.as_deref(), &wanted)
    }

    fn expect_status(
        &mut self,
        name: &str,
        found: Option<&[Cell]>,
        wanted: &[Cell],
    ) -> Result<(), String> {
        let bits = &mut self.trial.symbols().0;
        let is_right = |found: &[Cell]| {
            found.iter().zip(wanted).all(|(&found, &wanted)| are_equal(bits, found, wanted))
        };
        match found.is_some_and(is_right) {
            true => Ok(()),
            false => Err(format!("{name}: the status is another one than the specification says")),
        }
    }

    fn returned(&mut self, name: &str, given: &[Given]) -> Result<Option<Vec<Cell>>, String> {
        let declared = self.known.declared.get(name);
        let function = declared.ok_or_else(|| format!("`{name}` is not exported"))?;
        let other = || format!("`{name}` has other parameters");
        if function.parameters.len() != given.len() {
            return Err(other());
        }
        let mut arguments = Vec::new();
        for (parameter, given) in function.parameters.iter().zip(given) {
            arguments.push(match (&parameter.memory, given) {
                (Some(memory), Given::Room(room)) => {
                    let data = &mut self.buffers[room.0];
                    data.align = data.align.max(memory.align);
                    if memory.access != Declared::Read {
                        data.access = Access::Both;
                    }
                    Argument::Buffer(room.0)
                }
                (None, Given::Number(number)) => {
                    match self.address < 8 && exported::is_long(&parameter.c_type) {
                        true => Argument::Wide(u32::try_from(*number).map_err(|_| other())?),
                        false => Argument::Number(*number as u64),
                    }
                }
                _ => return Err(other()),
            });
        }
        let call = Call { symbol: name.to_string(), arguments };
        let done = self.trial.call(&mut self.buffers, &call);
        done.map_err(|fault| format!("{name}: {fault}"))
    }

    /// Checks that a buffer has these bytes.
    pub fn expect(&mut self, room: Room, expected: &[Byte]) -> Result<(), String> {
        let found = self.bytes(room);
        if found.len() != expected.len() {
            return Err("the specification has a result of another size".into());
        }
        let bits = &mut self.trial.symbols().0;
        let mut differs = |(at, byte): (usize, &Byte)| {
            let pairs = |found: &Byte| {
                found.iter().zip(byte).all(|(&found, &wanted)| are_equal(bits, found, wanted))
            };
            !found.get(at).is_some_and(pairs)
        };
        let Some((at, _)) = expected.iter().enumerate().find(|&pair| differs(pair)) else {
            return Ok(());
        };
        let name = &self.buffers[room.0].name;
        Err(match found[at].iter().all(|cell| cell.edge().is_some()) {
            true => format!("byte {at} of `{name}` is another one than the specification says"),
            false => format!("byte {at} of `{name}` is not known"),
        })
    }
}

/// Whether two bits are one function.
fn are_equal(bits: &mut Bits, found: Cell, wanted: Cell) -> bool {
    if found == wanted {
        return found.edge().is_some();
    }
    let (Some(a), Some(b)) = (found.edge(), wanted.edge()) else { return false };
    miter::decide(&mut bits.graph, a, b, miter::RESULTS).0 == Decision::Equal
}

pub fn at(room: Room) -> Given {
    Given::Room(room)
}

pub fn number(value: usize) -> Given {
    Given::Number(value)
}
