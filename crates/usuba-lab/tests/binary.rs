use std::path::Path;
use std::time::Instant;
use usuba::target;
use usuba::passes::pipeline::PipelineOptions;
use usuba_lab::{binary, cipher, cc::Family};
use usuba_proof::machine::compare::Demands;

#[test]
fn table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let only = std::env::var("ONLY").unwrap_or_default();
    let targets = std::env::var("TARGETS").unwrap_or("gp64 sse avx2 avx512".into());
    for c in cipher::find(&root).unwrap() {
        for f in &c.functions {
            if !only.is_empty() && !only.split(' ').any(|o| f.name.starts_with(o)) { continue; }
            for &s in &f.slicings {
                for t in targets.split(' ') {
                    let target = target::find(t).unwrap();
                    let Ok(out) = cipher::kernel(&c, f, s, target, &PipelineOptions::default()) else { println!("{} {s:?} {t} no kernel", f.name); continue };
                    for fam in [Family::Gcc, Family::Clang] {
                        let t0 = Instant::now();
                        let obj = binary::object(&out.kernel.text, "c", t, fam, &[]).unwrap();
                        let t1 = Instant::now();
                        let a = binary::prove_object(&obj, &out, target, Demands::default());
                        let text = format!("{a:?}");
                        println!("{} {s:?} {t} {fam:?} cc {:.2} proof {:.2}: {}", f.name, (t1-t0).as_secs_f64(), t1.elapsed().as_secs_f64(), &text[..text.len().min(300)]);
                    }
                }
            }
        }
    }
}
