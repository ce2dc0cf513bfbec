//! Truth tables of functions of at most five bits.
//!
//! Bit i of a table is the value where variable v is bit v of i. A function of fewer variables
//! does not depend on the others, so a function has one table for any number of variables.

/// The most variables of a function.
pub const MOST: usize = 5;

/// The tables of the variables themselves.
pub const VARIABLES: [u32; MOST] =
    [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];

/// The table of the composition `f(g[0], g[1], ...)`, for the table `f` of a function of `g.len()`
/// variables.
pub fn compose(f: u32, g: &[u32]) -> u32 {
    let mut count = 1usize << g.len();
    let mut values = [0u32; 1 << MOST];
    for (row, value) in values[..count].iter_mut().enumerate() {
        *value = 0u32.wrapping_sub(f >> row & 1);
    }
    // One variable after the other is replaced by its function.
    for &variable in g {
        count /= 2;
        for i in 0..count {
            values[i] = variable & values[2 * i + 1] | !variable & values[2 * i];
        }
    }
    values[0]
}

/// Whether a function depends on a variable.
pub fn depends(f: u32, variable: usize) -> bool {
    let high = f & VARIABLES[variable];
    high >> (1 << variable) != f & !VARIABLES[variable]
}

/// The coefficients of the algebraic normal form of a function of three variables: bit i is the
/// coefficient of the product of the variables in i.
pub fn algebraic(f: u32) -> u8 {
    let mut rows = f as u8;
    for (variable, table) in VARIABLES[..3].iter().enumerate() {
        // The upper half becomes the XOR of both halves.
        rows ^= (rows & !*table as u8) << (1 << variable);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(f: u32, row: u32) -> u32 {
        f >> row & 1
    }

    #[test]
    fn composition_is_that_of_functions() {
        let f = 0x1234_abcd;
        let g = [0x0f1e_2d3c, VARIABLES[4], !VARIABLES[0], 0, 0xdead_beef];
        for row in 0..32 {
            let inner = (0..MOST).map(|v| at(g[v], row) << v).sum();
            assert_eq!(at(compose(f, &g), row), at(f, inner));
        }
        assert_eq!(compose(f, &VARIABLES), f);
        assert_eq!(compose(0b1000, &VARIABLES[..2]), VARIABLES[0] & VARIABLES[1]);
    }

    #[test]
    fn dependence_is_noticed() {
        let f = VARIABLES[1] ^ VARIABLES[3] & VARIABLES[4];
        assert_eq!((0..MOST).filter(|&v| depends(f, v)).collect::<Vec<_>>(), [1, 3, 4]);
    }

    #[test]
    fn one_row_is_enough_to_depend_on_all() {
        for row in 0..32 {
            for f in [1u32 << row, !(1u32 << row)] {
                for variable in 0..MOST {
                    assert!(depends(f, variable), "{f:#x} on {variable}");
                }
            }
        }
        for variable in 0..MOST {
            assert!(!depends(0, variable) && !depends(u32::MAX, variable));
        }
    }

    #[test]
    fn the_order_and_the_number_of_functions_matter() {
        let f = 0b0010;
        let (x, y) = (VARIABLES[0], VARIABLES[1]);
        assert_ne!(compose(f, &[x, y]), compose(f, &[y, x]));
        assert_ne!(compose(f, &[x, y]), compose(f, &[x, !y]));
        assert_ne!(compose(f, &[x, y]), compose(f, &[x, x]));
        // Rows beyond the variables of a function are ignored.
        assert_eq!(compose(f | 0xabcd_0000, &[x, y]), compose(f, &[x, y]));
        for row in 0..4 {
            assert_ne!(compose(f ^ 1 << row, &[x, y]), compose(f, &[x, y]), "row {row}");
        }
    }

    #[test]
    fn the_algebraic_normal_form_has_the_same_values() {
        for f in 0..=255u32 {
            let form = algebraic(f);
            for row in 0..8u8 {
                let products = (0..8u8).filter(|m| form >> m & 1 == 1 && m & row == *m);
                assert_eq!(products.count() as u32 % 2, at(f, row as u32), "{f:08b} at {row}");
            }
        }
    }
}
