//! Calls on buffers of fixed sizes: branches that are joined, orders of buffers, uninterpreted
//! functions, and wrong claims.

use usuba_bits::cell::{Bits, Cell};
use usuba_equiv::miter::{self, Decision};
use usuba_equiv::value_numbering::Graph;
use usuba_object::Fault;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::functions::{BlockCounts, Callee, Functions, Shape};
use usuba_object::memory::Access;
use usuba_object::trial::{Argument, Call, Content, Data, Trial};
use usuba_prove::compiler;
use usuba_run::cc::Family;

use super::families;

const TEXT: &str = r#"
#include <stddef.h>
#include <stdint.h>

int differ(const uint8_t *a, const uint8_t *b)
{
    if (a[0] != b[0]) return 5;
    return a[1] != b[1] ? 5 : 0;
}

void reversed(const uint8_t *in, uint8_t *out)
{
    size_t i;
    if ((uintptr_t)in < (uintptr_t)out)
        for (i = 0; i < 3; i++) out[i] = in[i] ^ 1;
    else
        for (i = 3; i--;) out[i] = in[i] ^ 1;
}

void sided(const uint8_t *in, uint8_t *out)
{
    *out = (uint8_t)((uintptr_t)in < (uintptr_t)out);
}

__attribute__((noipa)) void chained(uint8_t *chains, const uint8_t *const *in, size_t nblocks,
    size_t count)
{
    for (; count; count--, chains += 2, in++)
        for (size_t i = 0; i < nblocks; i++) chains[0] ^= in[0][i];
}

void twice(uint8_t *chain, const uint8_t *in)
{
    chained(chain, &in, 2, 1);
    chained(chain, &in, 1, 1);
}

void overlapping(uint8_t *chain, const uint8_t *in)
{
    const uint8_t *own = chain + 1;
    chained(chain, &own, 1, 1);
    (void)in;
}

void endless(uint8_t *chain, const uint8_t *in)
{
    while (*(volatile const uint8_t *)in != 0) chain[1] = chain[1] + 1;
}

void many(uint8_t *chain, const uint8_t *in)
{
    chained(chain, &in, 3, 1);
}
"#;

/// Functions of the text in an object by a compiler, with `chained` as an uninterpreted function.
struct Prepared<'o> {
    trial: Trial<'o>,
    buffers: Vec<Data>,
}

impl<'o> Prepared<'o> {
    fn new(object: &'o Object) -> Prepared<'o> {
        let counts = vec![(1, 1), (2, 1)];
        let extent = |(blocks, messages)| BlockCounts { blocks, messages };
        let counts = counts.into_iter().map(extent).collect();
        let shape = Shape::Chained { chain: 2, block: 1, counts };
        let callee = Callee { symbol: "chained".into(), function: 0, shape };
        let functions = Functions::new(&[callee], &Default::default(), object);
        let trial = Trial::new(object, Bits::new(Graph::new(None)), functions);
        Prepared { trial, buffers: Vec::new() }
    }

    /// A buffer of symbols.
    fn text(&mut self, access: Access, bytes: usize) -> Vec<Cell> {
        let (bits, functions) = self.trial.symbols();
        let cells: Vec<Cell> = (0..8 * bytes).map(|_| functions.parameter(bits)).collect();
        let (name, content) = ("text".to_string(), Content::Bits(cells.clone()));
        self.buffers.push(Data { name, align: 1, access, content });
        cells
    }

    fn call(&mut self, symbol: &str, buffers: &[usize]) -> Result<Option<Vec<Cell>>, Fault> {
        let arguments = buffers.iter().map(|&at| Argument::Buffer(at)).collect();
        let call = Call { symbol: symbol.into(), arguments };
        self.trial.call(&mut self.buffers, &call)
    }

    fn are_equal(&mut self, found: &[Cell], wanted: &[Cell]) -> bool {
        let bits = self.trial.symbols().0;
        let mut equal = |(a, b): (&Cell, &Cell)| match (a.edge(), b.edge()) {
            (Some(a), Some(b)) => {
                miter::decide(&mut bits.graph, a, b, miter::RESULTS).0 == Decision::Equal
            }
            _ => false,
        };
        found.len() == wanted.len() && found.iter().zip(wanted).all(&mut equal)
    }
}

fn on_each_object(check: impl Fn(&Object)) {
    for family in families("gp64") {
        let more: &[&str] =
            if family == Family::Gcc { &["-O2"] } else { &["-O2", "-Dnoipa=noinline"] };
        let file = compiler::object(TEXT, "c", "gp64", family, more).expect("it compiles");
        check(&Object::read(&file, Extensions::ALL).expect("an object"));
    }
}

/// The status is the condition, on all paths together.
#[test]
fn branches_on_symbols_are_joined() {
    on_each_object(|object| {
        let mut run = Prepared::new(object);
        let (a, b) = (run.text(Access::Read, 2), run.text(Access::Read, 2));
        let found = run.call("differ", &[0, 1]).expect("it returns").expect("bits");
        let bits = run.trial.symbols().0;
        let mut any = bits.constant(false);
        for (&a, &b) in a.iter().zip(&b) {
            let differ = bits.xor(a, b);
            any = bits.or(any, differ);
        }
        let wanted = |bits: &mut Bits, status| -> Vec<Cell> {
            let number = bits.number(status, 32);
            number.into_iter().map(|bit| bits.and(bit, any)).collect()
        };
        let (right, wrong) = (wanted(bits, 5), wanted(bits, 4));
        assert!(run.are_equal(&found, &right));
        assert!(!run.are_equal(&found, &wrong));
    });
}

/// Both orders of two buffers count, so a result that tells the order is no result.
#[test]
fn orders_of_buffers_are_followed_both_ways() {
    on_each_object(|object| {
        let mut run = Prepared::new(object);
        let text = run.text(Access::Read, 3);
        run.text(Access::Both, 3);
        run.call("reversed", &[0, 1]).expect("it returns");
        let found = run.buffers[1].bits().to_vec();
        let bits = run.trial.symbols().0;
        let one = bits.constant(true);
        let flip = |(at, &bit): (usize, &Cell)| if at % 8 == 0 { bits.xor(bit, one) } else { bit };
        let wanted: Vec<Cell> = text.iter().enumerate().map(flip).collect();
        assert!(run.are_equal(&found, &wanted));
        run.call("sided", &[0, 1]).expect("it returns");
        let found = run.buffers[1].bits()[..8].to_vec();
        for value in [0, 1] {
            let wanted = run.trial.symbols().0.number(value, 8);
            assert!(!run.are_equal(&found, &wanted));
        }
    });
}

/// A function over blocks is any function, and only for the numbers for which it is proved.
#[test]
fn functions_over_blocks_are_unknown_functions() {
    on_each_object(|object| {
        let mut run = Prepared::new(object);
        let (chain, text) = (run.text(Access::Both, 2), run.text(Access::Read, 3));
        run.call("twice", &[0, 1]).expect("it returns");
        let found = run.buffers[0].bits().to_vec();
        let fold = |run: &mut Prepared, order: &[usize]| {
            let (bits, functions) = run.trial.symbols();
            order.iter().fold(chain.clone(), |chain, &at| {
                let arguments = [&chain[..], &text[8 * at..8 * at + 8]].concat();
                functions.apply(bits, 0, arguments, 2)
            })
        };
        let (right, wrong) = (fold(&mut run, &[0, 1, 0]), fold(&mut run, &[0, 0, 1]));
        assert!(run.are_equal(&found, &right));
        assert!(!run.are_equal(&found, &wrong));
        let fault = run.call("overlapping", &[0, 1]).expect_err("the block is in the result");
        assert!(fault.to_string().contains("overlaps another buffer"), "{fault}");
        let fault = run.call("endless", &[0, 1]).expect_err("it need not return");
        assert!(fault.to_string().contains("branches on symbols"), "{fault}");
        let fault = run.call("many", &[0, 1]).expect_err("three blocks are not proved");
        assert!(fault.to_string().contains("not proved for 3 blocks of 1 messages"), "{fault}");
    });
}
