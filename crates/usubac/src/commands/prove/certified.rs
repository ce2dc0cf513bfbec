//! Flags of a certificate, reconstructed for another proof.

use usuba::ir::Slicing;
use usuba_prove::certificate::Record;

use crate::Failure;
use crate::args::{self, Codegen, Language};

/// The flags in `record`, with the include paths of `given`.
pub fn flags(record: &Record, given: &Language) -> Result<(Language, Codegen), Failure> {
    let wrong = |why: String| {
        Failure::program(format!("the certificate of {}, {}: {why}", record.program, record.entry))
    };
    let mut language = given.clone();
    language.set_entry(&record.entry);
    language.read_as(&record.reading).map_err(wrong)?;
    language.set_slicing(match record.slicing.as_str() {
        "V" => Slicing::V,
        "H" => Slicing::H,
        "B" => Slicing::B,
        "W" => Slicing::W,
        other => return Err(wrong(format!("`{other}` is no slicing"))),
    });
    let codegen = args::certified_flags(&record.flags).map_err(wrong)?;
    let codegen = codegen.for_target(&record.target).map_err(wrong)?;
    Ok((language, codegen))
}

#[cfg(test)]
mod tests {
    use usuba_sat::Engines;

    use super::*;

    #[test]
    fn a_record_says_how_the_program_was_compiled() {
        let record = Record {
            program: "f.ua".into(),
            entry: "f".into(),
            slicing: "V".into(),
            target: "avx2".into(),
            reading: "-m 16".into(),
            flags: "--interleave 2".into(),
            source: "00".into(),
            usuba0: "1".into(),
            passes: 3,
            lanes: "2 operators".into(),
            engines: Engines::GRAPH,
            contract: Vec::new(),
            object: Vec::new(),
            description: String::new(),
            beside: Vec::new(),
            interface: Vec::new(),
        };
        let given = args::tests::language();
        let (language, codegen) = flags(&record, &given).expect("flags");
        assert_eq!(language.reading(), "-m 16");
        assert_eq!(language.entry(), Some("f"));
        assert_eq!(codegen.written(), " --interleave 2");
        assert_eq!(codegen.target().expect("a target").name, "avx2");
        assert!(flags(&Record { slicing: "X".into(), ..record.clone() }, &given).is_err());
        assert!(flags(&Record { reading: "-q".into(), ..record }, &given).is_err());
    }
}
