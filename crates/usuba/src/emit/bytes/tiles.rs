//! Tiling: cuts the blocks of a batch into tiles whose transposition permutes index bits.
//!
//! A tile is the same few bytes of every block: at most 16 (one group of a vector register, or
//! one general-purpose register), so that any number of words works; the last tile overlaps its
//! neighbour where the block is no multiple. Where registers can exchange groups, a tile is as wide as a
//! register if its last one repeats little. Blocks smaller than that whose size is a power of
//! two are taken several at once; other small blocks are copied apart first.

use super::plan::{Part, Place, Plan, Step, plan};
use super::{ByteLayout, Shape};
use crate::isa::{Layout, Target};

/// How one port moves between bytes and registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tiles {
    /// Bytes of the port in a block.
    pub block: usize,
    /// Bytes from block to block in memory: `block`, or more if other ports share the block.
    pub pitch: usize,
    /// Whether the blocks are copied apart first.
    pub apart: bool,
    /// Bytes from block to block where the tiles read: `pitch`, or another number if blocks are
    /// copied apart.
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
    /// Whether it is wider, and two registers can exchange these groups.
    pub groups: bool,
}

impl File {
    /// The registers of a target.
    pub fn of(target: &Target) -> File {
        File { bits: target.bits, vector: target.simd, groups: target.has_groups() }
    }

    /// Number of index bits in a register, or a group of a vector register.
    fn positions(self) -> u32 {
        if self.vector { 7 } else { self.bits.ilog2() }
    }
}

impl Tiles {
    /// Tiles of a port of `shape`, stored as `bytes` every `pitch` bytes, with `lanes` instances in
    /// registers of `file` under `layout`. `natural` puts instance j where the register layout says;
    /// otherwise instances go where they cost least, the same for equal ports.
    ///
    /// [`Layout::Words`] takes one instance whose words share the registers; see [`Tiles::word`].
    ///
    /// `None` if the port does not fit: word sizes that are no power of two, words narrower than
    /// their lanes, `planes` of a size that is no power of two. Bitslicing always fits.
    pub fn new(
        shape: Shape,
        bytes: ByteLayout,
        pitch: usize,
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
        let small = block < piece || block == piece && pitch == block || whole;
        let stride = if small { block.next_power_of_two() } else { pitch };
        let group_bits = file.bits.ilog2() - positions;
        let register = file.bits as usize / 8;
        // A register is loaded from one block, and its groups change places with instances, unless
        // the last tile would repeat more than an eighth of a block.
        let exchanged = file.groups
            && !sliced
            && !small
            && lanes.ilog2() >= group_bits
            && block >= register
            && block.next_multiple_of(register) <= block + block / 8
            && ((block - register) * 8).is_multiple_of(shape.bits as usize);
        let tile = match (small, exchanged) {
            (true, _) => stride,
            (false, true) => register,
            (false, false) => piece,
        };
        let count = lanes * tile / register;

        // The index bits as they are loaded: the data first, then the instances.
        let data = tile.ilog2() + 3;
        let meaning = |k: u32| {
            if sliced { Place::plain(Part::Atom(k as u8)) } else { memory_bit(shape, bytes, k) }
        };
        let mut places: Vec<Place> = (0..data).map(meaning).collect();
        places.extend((0..lanes.ilog2()).map(|k| Place::plain(Part::Instance(k as u8))));
        let inside: Vec<Place> = places.drain(..positions as usize).collect();
        // Contiguous registers take the next index bits as groups, the others the last.
        let contiguous =
            group_bits == 0 || exchanged || tile <= piece && stride == tile && !natural;
        let mut groups: Vec<Place> = if contiguous && group_bits > 0 {
            places.drain(..group_bits as usize).collect()
        } else {
            places.split_off(places.len() - group_bits as usize)
        };
        let register_step = match (contiguous && small, small) {
            (true, _) => register,
            (false, true) => piece,
            (false, false) => stride,
        };
        let group_step = if contiguous { piece } else { count * register_step };

        let goal = goals(layout, shape.bits, positions, file.vector, natural && lanes > 1);
        let exchange = exchanged.then(|| {
            let first = if natural { places.len() - groups.len() } else { 0 };
            for (group, place) in groups.iter_mut().zip(&mut places[first..]) {
                std::mem::swap(group, place);
            }
            Step::Groups { regs: (first..).map(|reg| reg as u8).take(groups.len()).collect() }
        });
        let mut plan = plan(file.vector, &inside, &places, &goal);
        plan.steps.splice(0..0, exchange);
        let offsets = (0..block.div_ceil(tile)).map(|n| (n * tile).min(block.saturating_sub(tile)));
        // Words of a value.
        let vector = match layout {
            Layout::Vectors { words, .. } => words as usize,
            _ => 1,
        };
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
                (word < shape.words).then_some(word / vector)
            }
        };
        let tiles = offsets
            .map(|offset| (offset, (0..count).map(|r| value(offset, r)).collect::<Vec<_>>()))
            .collect();
        Some(Tiles {
            block,
            pitch,
            apart: small && (stride, pitch) != (block, block),
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

    /// Whether each byte of a block is in one tile, and read and written where it is.
    pub fn are_apart(&self) -> bool {
        let tile = self.block.div_ceil(self.tiles.len());
        let mut offsets = self.tiles.iter().enumerate();
        !self.apart
            && self.block.is_multiple_of(self.tiles.len())
            && offsets.all(|(at, (offset, _))| *offset == at * tile)
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
        Layout::Lanes(lane) | Layout::Elements(lane) | Layout::Vectors { lane, .. } => lane,
        Layout::Words | Layout::Bits => bits,
    };
    let woven = shape.words.is_power_of_two()
        && shape.row.is_power_of_two()
        && shape.row * bits as usize >= 8;
    lane == bits && bits.is_power_of_two() && (!whole || woven)
}

/// The meaning of bit k of the index of a bit in memory: bits 0 to 2 count from the least
/// significant bit of a byte, the others are the byte.
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
        // One vector is one group.
        Layout::Vectors { .. } => match k.checked_sub(lane.ilog2()) {
            Some(k) => Some(Place::plain(Part::Atom(k as u8))),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::bytes::plan::Step;

    /// The bits of all registers of a tile: which bit of the loaded tile sits where.
    type Bits = Vec<Vec<usize>>;

    /// Applies a step to the bits as the instructions do, pair by pair.
    fn apply(bits: &mut Bits, step: &Step) {
        let count = bits.len();
        let pairs =
            |reg: u8| (0..count).filter(move |r| r >> reg & 1 == 0).map(move |r| (r, r | 1 << reg));
        match step {
            Step::Zip { regs } => {
                let element = 1 << (7 - regs.len());
                for &reg in regs {
                    for (a, b) in pairs(reg) {
                        let (x, y) = (bits[a].clone(), bits[b].clone());
                        let width = x.len().min(128);
                        for start in (0..x.len()).step_by(width) {
                            let group = start..start + width;
                            let both = x[group.clone()].chunks(element);
                            let both = both.zip(y[group.clone()].chunks(element));
                            let all: Vec<usize> = both.flat_map(|(x, y)| [x, y].concat()).collect();
                            bits[a][group.clone()].copy_from_slice(&all[..width]);
                            bits[b][group].copy_from_slice(&all[width..]);
                        }
                    }
                }
            }
            Step::Groups { regs } => {
                for &reg in regs {
                    for (a, b) in pairs(reg) {
                        let both = [bits[a].clone(), bits[b].clone()].concat();
                        let half = |odd: usize| -> Vec<usize> {
                            both.chunks(128).skip(odd).step_by(2).flatten().copied().collect()
                        };
                        (bits[a], bits[b]) = (half(0), half(1));
                    }
                }
            }
            Step::Swap { reg, bit, anti } => {
                for (a, b) in pairs(*reg) {
                    let (a, b) = if *anti { (b, a) } else { (a, b) };
                    for at in (0..bits[a].len()).filter(|at| at >> bit & 1 == 0) {
                        let up = at | 1 << bit;
                        (bits[a][up], bits[b][at]) = (bits[b][at], bits[a][up]);
                    }
                }
            }
            Step::Delta { low, high, anti } => {
                for register in bits {
                    let down = |at: &usize| at >> low & 1 != *anti as usize && at >> high & 1 == 0;
                    for at in (0..register.len()).filter(down) {
                        register.swap(at, at ^ (1 << low | 1 << high));
                    }
                }
            }
            Step::Flip { bit } => {
                for register in bits {
                    for at in (0..register.len()).filter(|at| at >> bit & 1 == 0) {
                        register.swap(at, at | 1 << bit);
                    }
                }
            }
            Step::Shuffle { from } => {
                for register in bits {
                    let old = register.clone();
                    for start in (0..old.len()).step_by(128) {
                        for (byte, &source) in from.iter().enumerate() {
                            let (to, source) = (start + 8 * byte, start + source as usize * 8);
                            register[to..to + 8].copy_from_slice(&old[source..source + 8]);
                        }
                    }
                }
            }
        }
    }

    /// Every plan moves every bit where its places say, reaches its goal, and is undone by its
    /// steps backwards.
    #[test]
    fn plans_do_what_their_places_say() {
        let vector = File { bits: 128, vector: true, groups: false };
        let scalar = File { bits: 64, vector: false, groups: false };
        let wide = [256, 512].map(|bits| File { bits, vector: true, groups: true });
        let (mut seen, mut exchanged) = (0, 0);
        for (words, bits) in
            [(4, 16), (8, 16), (16, 8), (4, 32), (16, 32), (2, 64), (5, 64), (16, 4), (8, 2)]
        {
            let shape = Shape { words, row: words, bits };
            for &(_, bytes) in ByteLayout::ALL {
                if bytes == ByteLayout::Le && bits < 8 {
                    continue;
                }
                for natural in [false, true] {
                    let lanes = 128 / bits as usize;
                    let kinds = [
                        (Layout::Lanes(bits.max(8)), lanes, vector),
                        (Layout::Elements(bits), lanes, vector),
                        (Layout::Bits, 128, vector),
                        (Layout::Elements(bits), 64 / bits as usize, scalar),
                        (Layout::Bits, 64, scalar),
                    ];
                    for (layout, lanes, file) in kinds {
                        if bits > 16 && file.vector && matches!(layout, Layout::Elements(_)) {
                            continue;
                        }
                        let tiles =
                            Tiles::new(shape, bytes, shape.bytes(), layout, lanes, file, natural);
                        let Some(tiles) = tiles else { continue };
                        let sliced = layout == Layout::Bits;
                        let data = (tiles.count << file.positions()).ilog2() - lanes.ilog2();
                        let mut start: Vec<Place> = (0..data)
                            .map(|k| match sliced {
                                true => Place::plain(Part::Atom(k as u8)),
                                false => memory_bit(shape, bytes, k),
                            })
                            .collect();
                        let instance = |k: u32| Place::plain(Part::Instance(k as u8));
                        start.extend((0..lanes.ilog2()).map(instance));
                        check(&tiles, &start, file.positions());
                        let natural = natural && lanes > 1;
                        let goal = goals(layout, bits, file.positions(), file.vector, natural);
                        for (place, goal) in tiles.plan.inside.iter().zip(goal) {
                            assert!(goal.is_none_or(|goal| goal == *place));
                        }
                        seen += 1;
                    }
                    let words = 128 / bits;
                    let both = [Layout::Lanes(bits), Layout::Vectors { words, lane: bits }];
                    let each = wide.iter().flat_map(|file| both.map(|layout| (file, layout)));
                    for (file, layout) in each.filter(|_| bits >= 8) {
                        let instance = match layout {
                            Layout::Lanes(_) => bits as usize,
                            _ => 128,
                        };
                        let lanes = file.bits as usize / instance;
                        // A vector is a part of a block.
                        if instance == 128 && shape.bytes() < 16 {
                            continue;
                        }
                        let tiles =
                            Tiles::new(shape, bytes, shape.bytes(), layout, lanes, *file, natural);
                        let Some(tiles) = tiles else { continue };
                        if !matches!(tiles.plan.steps.first(), Some(Step::Groups { .. })) {
                            continue;
                        }
                        let data = file.bits.ilog2();
                        let mut start: Vec<Place> =
                            (0..data).map(|k| memory_bit(shape, bytes, k)).collect();
                        let instance = |k: u32| Place::plain(Part::Instance(k as u8));
                        start.extend((0..lanes.ilog2()).map(instance));
                        check(&tiles, &start, data);
                        exchanged += 1;
                    }
                }
            }
        }
        assert!(seen > 200, "only {seen} shapes were tiled");
        assert!(exchanged >= 10, "only {exchanged} shapes exchange groups");
    }

    /// `start` is the meaning of each index bit as loaded: inside a register, then its number.
    /// `positions` are the index bits inside a register.
    fn check(tiles: &Tiles, start: &[Place], positions: u32) {
        let width = 1 << positions;
        let loaded: Bits =
            (0..tiles.count).map(|r| (0..width).map(|at| r * width + at).collect()).collect();
        let mut bits = loaded.clone();
        tiles.plan.steps.iter().for_each(|step| apply(&mut bits, step));
        let places: Vec<Place> = tiles
            .plan
            .inside
            .iter()
            .chain(&tiles.groups)
            .chain(&tiles.plan.regs)
            .copied()
            .collect();
        let source = |place: &Place| start.iter().position(|from| from.part == place.part);
        let moved: Vec<usize> =
            places.iter().map(|place| source(place).expect("no part is lost")).collect();
        for (now, &before) in bits.iter().flatten().enumerate() {
            for (k, place) in places.iter().enumerate() {
                let meaning = (now >> k & 1 == 1) != place.flip;
                let from = (before >> moved[k] & 1 == 1) != start[moved[k]].flip;
                assert_eq!(meaning, from, "bit {now} came from {before}: {:?}", tiles.plan);
            }
        }
        tiles.plan.steps.iter().rev().for_each(|step| apply(&mut bits, &step.inverse()));
        assert_eq!(bits, loaded, "backwards is not the opposite");
    }
}
