//! Maps of bit positions: rotations, shuffles and broadcasts of one bit.
//!
//! ```text
//! f = [1, 2, 3, 0]     bit i of the result is bit f[i] of the operand: a rotation to the left
//! ```
//!
//! Bits count from the most significant one. All maps of one width form a monoid under composition,
//! and its invertible members a group; the DAG writes members of that group on its edges. A map is
//! hash-consed: it has a number, and number 0 is the identity of every width.

use std::rc::Rc;

use rustc_hash::FxHashMap;

/// The number of a map.
pub type MapId = u32;

/// The identity of every width.
pub const IDENTITY: MapId = 0;

/// All maps that were ever needed, each once.
pub struct Maps {
    lists: Vec<Rc<[u8]>>,
    /// The inverses that were computed.
    inverses: Vec<Option<MapId>>,
    ids: FxHashMap<Rc<[u8]>, MapId>,
    composed: FxHashMap<(MapId, MapId), MapId>,
    named: FxHashMap<(u8, u8, u8), MapId>,
}

impl Default for Maps {
    fn default() -> Maps {
        Maps {
            lists: vec![Rc::from([].as_slice())],
            inverses: vec![Some(IDENTITY)],
            ids: FxHashMap::default(),
            composed: FxHashMap::default(),
            named: FxHashMap::default(),
        }
    }
}

impl Maps {
    /// The map with `f[i]` as source of bit i.
    pub fn intern(&mut self, f: &[u8]) -> MapId {
        if f.iter().enumerate().all(|(i, &source)| i == source as usize) {
            return IDENTITY;
        }
        if let Some(&id) = self.ids.get(f) {
            return id;
        }
        let (id, list) = (self.lists.len() as MapId, Rc::<[u8]>::from(f));
        self.lists.push(list.clone());
        self.inverses.push(None);
        self.ids.insert(list, id);
        id
    }

    /// A rotation of `bits` bits to the left by `k`, which is below `bits`.
    pub fn rotation(&mut self, bits: u8, k: u8) -> MapId {
        self.named(0, bits, k, |i| ((i as u32 + k as u32) % bits as u32) as u8)
    }

    /// An arithmetic shift to the right by `k`: copies of the top bit enter.
    pub fn arithmetic_shift(&mut self, bits: u8, k: u8) -> MapId {
        self.named(1, bits, k, |i| i.saturating_sub(k))
    }

    /// Every bit is bit `k`, counted from the least significant one.
    pub fn spread(&mut self, bits: u8, k: u8) -> MapId {
        self.named(2, bits, k, |_| bits - 1 - k)
    }

    fn named(&mut self, kind: u8, bits: u8, k: u8, source: impl Fn(u8) -> u8) -> MapId {
        if let Some(&id) = self.named.get(&(kind, bits, k)) {
            return id;
        }
        let list: Vec<u8> = (0..bits).map(source).collect();
        let id = self.intern(&list);
        self.named.insert((kind, bits, k), id);
        id
    }

    /// First `inner`, then `outer`.
    pub fn compose(&mut self, outer: MapId, inner: MapId) -> MapId {
        if outer == IDENTITY {
            return inner;
        }
        if inner == IDENTITY {
            return outer;
        }
        if let Some(&id) = self.composed.get(&(outer, inner)) {
            return id;
        }
        let (g, f) = (&self.lists[outer as usize], &self.lists[inner as usize]);
        let list: Vec<u8> = g.iter().map(|&i| f[i as usize]).collect();
        let id = self.intern(&list);
        self.composed.insert((outer, inner), id);
        id
    }

    /// The inverse of a map; `None` if two bits of the result are one bit of the operand.
    pub fn inverse(&mut self, id: MapId) -> Option<MapId> {
        if let Some(known) = self.inverses[id as usize] {
            return Some(known);
        }
        let list = self.lists[id as usize].clone();
        let mut back = vec![None; list.len()];
        for (i, &source) in list.iter().enumerate() {
            if back[source as usize].replace(i as u8).is_some() {
                return None;
            }
        }
        let back: Vec<u8> = back.into_iter().flatten().collect();
        let inverse = self.intern(&back);
        self.inverses[id as usize] = Some(inverse);
        self.inverses[inverse as usize] = Some(id);
        Some(inverse)
    }

    /// The word with its bits moved by a map.
    pub fn apply(&self, id: MapId, word: u64) -> u64 {
        if id == IDENTITY {
            return word;
        }
        let list = &self.lists[id as usize];
        let last = list.len() - 1;
        list.iter().fold(0, |sum, &source| sum << 1 | word >> (last - source as usize) & 1)
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::Op;

    use super::*;

    #[test]
    fn named_maps_are_the_operators() {
        let mut maps = Maps::default();
        for bits in [1u8, 2, 5, 8, 13, 64] {
            let word = 0x9d3c_55e1_0f2b_7a86 & usuba::ir::op::mask(bits);
            for k in 0..bits {
                let spread = maps.spread(bits, k);
                assert_eq!(maps.apply(spread, word), Op::Bitmask(k).eval(bits, &[word]));
                if k == 0 {
                    continue;
                }
                let rotation = maps.rotation(bits, k);
                assert_eq!(maps.apply(rotation, word), Op::Rotl(k).eval(bits, &[word]));
                let shift = maps.arithmetic_shift(bits, k);
                assert_eq!(maps.apply(shift, word), Op::Sar(k).eval(bits, &[word]));
            }
        }
    }

    #[test]
    fn composition_and_inverse_are_those_of_functions() {
        let mut maps = Maps::default();
        let (f, g) = (maps.intern(&[2, 0, 3, 1]), maps.intern(&[1, 1, 0, 3]));
        let both = maps.compose(g, f);
        for word in 0..16 {
            assert_eq!(maps.apply(both, word), maps.apply(g, maps.apply(f, word)));
        }
        let back = maps.inverse(f).expect("a permutation");
        assert_eq!(maps.compose(f, back), IDENTITY);
        assert_eq!(maps.compose(back, f), IDENTITY);
        assert_eq!(maps.inverse(g), None);
        assert_eq!(maps.rotation(8, 0), IDENTITY);
    }
}
