//! Functions over any number of blocks.

use usuba::ir::Slicing;
use usuba::target;
use usuba_lab::interface;

use super::{cipher, families};

#[test]
fn one() {
    let get = |name: &str, default: &str| std::env::var(name).unwrap_or(default.into());
    let cipher = cipher(&get("CIPHER", "rectangle"));
    let name = get("FUNCTION", "rectangle80_encrypt");
    let slicing = match &*get("SLICING", "V") {
        "V" => Slicing::V,
        "H" => Slicing::H,
        _ => Slicing::B,
    };
    for target_name in get("TARGETS", "gp64,sse,avx2,avx512").split(',') {
        let target = target::find(target_name).expect("a target");
        for function in cipher.functions.iter().filter(|f| f.name == name || name == "all") {
            for family in families(target_name) {
                let start = std::time::Instant::now();
                let proofs = interface::prove(&cipher, function, slicing, target, family);
                println!("{} {slicing:?} {target_name} {family:?} {:?}", function.name, start.elapsed());
                match proofs {
                    Ok(proofs) => proofs.iter().for_each(|proof| {
                        println!("   {}: {}", proof.what, format!("{:?}", proof.answer).chars().take(400).collect::<String>())
                    }),
                    Err(error) => println!("   {error}"),
                }
            }
        }
    }
}

#[test]
fn dump() {
    let get = |name: &str, default: &str| std::env::var(name).unwrap_or(default.into());
    let Ok(path) = std::env::var("DUMP") else { return };
    let cipher = cipher(&get("CIPHER", "rectangle"));
    let name = get("FUNCTION", "rectangle80_encrypt");
    let slicing = match &*get("SLICING", "V") {
        "V" => Slicing::V,
        "H" => Slicing::H,
        _ => Slicing::B,
    };
    let target = target::find(&get("TARGETS", "gp64")).expect("a target");
    let function = cipher.functions.iter().find(|f| f.name == name).expect("it");
    let built = usuba_lab::cipher::build(&cipher, function, &function.name, slicing, target, &Default::default()).expect("built");
    std::fs::write(&path, &built.text).expect("written");
    for family in families(target.name) {
        std::fs::write(format!("{path}.{family:?}.o"), interface::object(&built.text, target, family).expect("compiled")).expect("written");
    }
}
