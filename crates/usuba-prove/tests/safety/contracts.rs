//! Contracts of the functions in tests of safety.

use usuba_object::memory::Access;
use usuba_object::safety::{Bytes, Function, Parameter, Returns, Room};

pub fn room(name: &str, bytes: usize, access: Access) -> Room {
    let bytes = Bytes::Fixed(bytes);
    Room {
        name: name.into(),
        bytes,
        access,
        align: 1,
        is_public: false,
        fields: Vec::new(),
        each: None,
    }
}

/// `int f(const uint8_t secret[32], const uint8_t open[32], uint8_t out[32])`
pub fn contract(returns: Returns) -> Function {
    let secret = room("secret", 32, Access::Read);
    let open = Room { is_public: true, ..room("open", 32, Access::Read) };
    let rooms = [secret, open, room("out", 32, Access::Write)];
    let parameters = rooms.map(Parameter::Buffer).into();
    Function { symbol: "f".into(), parameters, equal: Vec::new(), returns }
}

/// `int f(const uint8_t *secret, uint8_t *out, size_t n)`, of `n` bytes each.
pub fn of_any_length(returns: Returns) -> Function {
    let each = Bytes::Times { each: 1, length: 2, more: 0 };
    let buffer =
        |name: &str, access| Parameter::Buffer(Room { bytes: each, ..room(name, 0, access) });
    let parameters = vec![
        buffer("secret", Access::Read),
        buffer("out", Access::Write),
        Parameter::Length(1 << 56),
    ];
    Function { symbol: "f".into(), parameters, equal: vec![[0, 1]], returns }
}
