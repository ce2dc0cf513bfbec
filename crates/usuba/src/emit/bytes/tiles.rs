//! Cuts the blocks of a batch into tiles whose transposition is a permutation of index bits.
//!
//! A tile is the same few bytes of every block: at most 16 (one group of a vector register, or
//! one general-purpose register), so that any number of words works; the last tile overlaps its
//! neighbour where the block is no multiple. Blocks smaller than that whose size is a power of
//! two are taken several at once; other small blocks are copied apart first.

use super::plan::{Part, Place, Plan, plan};
use super::{ByteLayout, Shape};
use crate::target::Layout;

/// How one port moves between bytes and registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tiles {
    /// Bytes of a block.
    pub block: usize,
    /// Bytes from block to block where the tiles read: `block`, or more if blocks are copied
    /// apart.
    pub stride: usize,
    /// Instances of a batch.
    pub lanes: usize,
    /// Registers of a tile; a power of two.
    pub count: usize,
    /// Bytes from register to register.
    pub register_step: usize,
    /// Bytes from group to group inside a register; meaningless if a register is one group.
    pub group_step: usize,
    /// Whether the bytes of a register are contiguous.
    pub contiguous: bool,
    pub plan: Plan,
    /// Meaning of the group bits.
    groups: Vec<Place>,
    /// First byte of each tile in the block, and for each register the value that it holds after
    /// packing; `None` for padding. Under [`Layout::Words`] the register itself.
    pub tiles: Vec<(usize, Vec<Option<usize>>)>,
}

/// The registers that a tile is cut for.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Bits of a register.
    pub bits: u32,
    /// Whether it has zips and shuffles in groups of 128 bits.
    pub vector: bool,
}

impl File {
    /// Number of index bits in a register, or a group of a vector register.
    fn positions(self) -> u32 {
        if self.vector { 7 } else { self.bits.ilog2() }
    }
}

impl Tiles {
    /// Tiles of a port of `shape`, stored as `bytes`, with `lanes` instances in registers of
    /// `file` under `layout`. `natural` puts instance j where the register layout says;
    /// otherwise instances go where they cost least, the same for equal ports.
    ///
    /// [`Layout::Words`] takes one instance whose words share the registers; see [`Tiles::word`].
    ///
    /// `None` if the port does not fit: word sizes that are no power of two, words narrower than
    /// their lanes, `planes` of a size that is no power of two. Bitslicing always fits.
    pub fn new(
        shape: Shape,
        bytes: ByteLayout,
        layout: Layout,
        lanes: usize,
        file: File,
        natural: bool,
    ) -> Option<Tiles> {
        let sliced = layout == Layout::Bits;
        let whole = bytes == ByteLayout::Planes && !sliced;
        if !sliced && !fits(shape, layout, whole) {
            return None;
        }
        let positions = file.positions();
        let block = shape.bytes();
        let piece = (1usize << positions) / 8;
        let small = block <= piece || whole;
        let stride = if small { block.next_power_of_two() } else { block };
        let tile = if small { stride } else { piece };
        let count = lanes * tile * 8 / file.bits as usize;
        let group_bits = file.bits.ilog2() - positions;

        // The index bits as they are loaded: the data first, then the instances.
        let data = tile.ilog2() + 3;
        let meaning = |k: u32| {
            if sliced { Place::plain(Part::Atom(k as u8)) } else { memory_bit(shape, bytes, k) }
        };
        let mut places: Vec<Place> = (0..data).map(meaning).collect();
        places.extend((0..lanes.ilog2()).map(|k| Place::plain(Part::Instance(k as u8))));
        let inside: Vec<Place> = places.drain(..positions as usize).collect();
        // Contiguous registers take the next index bits as groups, the others the last.
        let contiguous = group_bits == 0 || tile <= piece && stride == tile && !natural;
        let groups: Vec<Place> = if contiguous && group_bits > 0 {
            places.drain(..group_bits as usize).collect()
        } else {
            places.split_off(places.len() - group_bits as usize)
        };
        let register_step = match (contiguous && small, small) {
            (true, _) => file.bits as usize / 8,
            (false, true) => piece,
            (false, false) => stride,
        };
        let group_step = if contiguous { piece } else { count * register_step };

        let goal = goals(layout, shape.bits, positions, file.vector, natural && lanes > 1);
        let plan = plan(file.vector, &inside, &places, &goal);
        let offsets = (0..block.div_ceil(tile)).map(|n| (n * tile).min(block.saturating_sub(tile)));
        let value = |offset: usize, register: usize| {
            if layout == Layout::Words {
                return Some(register);
            }
            let index = index_of(&plan.regs, register);
            if sliced {
                let (word, bit) = bytes.locate(shape, offset * 8 + index)?;
                Some(word * shape.bits as usize + bit)
            } else {
                let word = offset * 8 / shape.bits as usize + index;
                (word < shape.words).then_some(word)
            }
        };
        let tiles = offsets
            .map(|offset| (offset, (0..count).map(|r| value(offset, r)).collect::<Vec<_>>()))
            .collect();
        Some(Tiles {
            block,
            stride,
            lanes,
            count,
            register_step,
            group_step,
            contiguous,
            plan,
            groups,
            tiles,
        })
    }

    /// Under [`Layout::Words`]: the word in lane `lane` (0 = least significant) of a register.
    pub fn word(&self, shape: Shape, register: usize, lane: usize) -> usize {
        let above = &self.plan.inside[shape.bits.ilog2() as usize..];
        index_of(above, lane) + index_of(&self.plan.regs, register)
    }

    /// Where each bit of the instance number sits; equal for two ports whose lanes agree.
    pub fn lane_order(&self) -> Vec<Option<Place>> {
        let instance = |place: &Place| matches!(place.part, Part::Instance(_)).then_some(*place);
        self.plan.inside.iter().chain(&self.groups).map(instance).collect()
    }
}

/// Whether index bits can describe the words of `shape` under V or H.
fn fits(shape: Shape, layout: Layout, whole: bool) -> bool {
    let bits = shape.bits;
    let lane = match layout {
        Layout::Lanes(lane) | Layout::Elements(lane) => lane,
        Layout::Words | Layout::Bits => bits,
    };
    let woven = shape.words.is_power_of_two()
        && shape.row.is_power_of_two()
        && shape.row * bits as usize >= 8;
    lane == bits && bits.is_power_of_two() && (!whole || woven)
}

/// What bit k of the index of a bit in memory means: bits 0 to 2 count from the least significant
/// bit of a byte, the others are the byte.
fn memory_bit(shape: Shape, bytes: ByteLayout, k: u32) -> Place {
    let word_bits = shape.bits.ilog2();
    let word = |k: u32| Part::Word(k as u8);
    let atom = |k: u32| Part::Atom(k as u8);
    if bytes == ByteLayout::Planes {
        let row = shape.row.ilog2();
        let part = match k {
            _ if k < row => atom(k),
            _ if k < row + word_bits => word(k - row),
            _ => atom(k - word_bits),
        };
        return Place { part, flip: k < 3 };
    }
    let part = if k < word_bits { word(k) } else { atom(k - word_bits) };
    let flip = match bytes {
        ByteLayout::Be => k < 3,
        ByteLayout::Le => k < word_bits,
        ByteLayout::LeBits | ByteLayout::Planes => false,
    };
    Place { part, flip }
}

/// The wanted place of each position under `layout`.
fn goals(
    layout: Layout,
    lane: u8,
    positions: u32,
    vector: bool,
    natural: bool,
) -> Vec<Option<Place>> {
    let word = |k: u32| Part::Word(k as u8);
    let instance = |k: u32| natural.then_some(Place::plain(Part::Instance(k as u8)));
    let goal = |k: u32| match layout {
        Layout::Bits => instance(k),
        Layout::Lanes(_) | Layout::Words => match k.checked_sub(lane.ilog2()) {
            Some(k) => instance(k),
            None => Some(Place::flipped(word(k))),
        },
        Layout::Elements(m) => match k.checked_sub(positions - m.ilog2()) {
            Some(k) => Some(Place { part: word(k), flip: !vector }),
            None => instance(k),
        },
    };
    (0..positions).map(goal).collect()
}

/// The index that register number `register` stands for.
fn index_of(places: &[Place], register: usize) -> usize {
    let bit = |(k, place): (usize, &Place)| match place.part {
        Part::Atom(atom) => ((register >> k & 1) ^ place.flip as usize) << atom,
        _ => unreachable!("only word indices are left in the register numbers"),
    };
    places.iter().enumerate().map(bit).sum()
}
