use usuba::{circuit::Profile, diag::*, ir::Slicing, typed::Flags, *};
fn main() {
    // args: file slicing input...
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let entry = if a[2].is_empty() { None } else { Some(a[2].as_str()) };
    let inputs: Vec<u64> = a[3..].iter().map(|s| s.parse().unwrap()).collect();
    let mut s = Sources::default();
    let root = s.add(a[1].clone(), text);
    struct L;
    impl syntax::splice::Loader for L {
        fn load(&mut self, inc: &str, p: &str) -> Result<(String, String), String> {
            let q = std::path::Path::new(inc).parent().unwrap().join(p);
            Ok((q.display().to_string(), std::fs::read_to_string(&q).map_err(|e| e.to_string())?))
        }
    }
    let show = |s: &Sources, d: &Diagnostic| {
        println!(
            "{} {:?} {} {:?}",
            d.code,
            d.span.map(|x| (s.line_col(x.file, x.start), s.line_col(x.file, x.end).1)),
            d.message,
            d.help
        )
    };
    match front(&mut s, root, &mut L, entry, Flags::default()) {
        Err(ds) => {
            for d in &ds {
                show(&s, d);
            }
            std::process::exit(1)
        }
        Ok(c) => {
            for d in &c.warnings {
                show(&s, d);
            }
            for (n, sl) in [("V", Slicing::V), ("B", Slicing::B), ("H", Slicing::H)] {
                let inst = match typed::check::slicing(&c.program, sl)
                    .and_then(|sl| typed::check::entry_instance(&c.program, sl, None))
                {
                    Ok(i) => i,
                    Err(d) => {
                        show(&s, &d);
                        std::process::exit(1)
                    }
                };
                let ev = if inputs.is_empty() {
                    None
                } else {
                    match typed::eval(&c.program, &inst, &inputs) {
                        Ok(v) => {
                            println!("eval {n} {v:?}");
                            Some(v)
                        }
                        Err(ds) => {
                            for d in &ds {
                                show(&s, d);
                            }
                            None
                        }
                    }
                };
                let t = std::time::Instant::now();
                match to_usuba0(
                    &c.program,
                    Slice { slicing: sl, word: None, profile: Profile::Basic },
                    &|sl, op, _| {
                        (sl == Slicing::H
                            && !op.is_bitwise()
                            && matches!(op, ir::Op::Add | ir::Op::Sub | ir::Op::Mul | ir::Op::Pack))
                        .then(|| "no".to_string())
                    },
                ) {
                    Err(ds) => {
                        for d in &ds {
                            show(&s, d);
                        }
                    }
                    Ok(p) => {
                        let el = t.elapsed();
                        if let Err(e) = ir::verify::verify(&p) {
                            println!("VERIFY FAILED {n}: {e}");
                            std::process::exit(3)
                        }
                        let en = p.entry();
                        let mut it = inputs.iter();
                        if let Some(ev) = ev {
                            let mut vals = vec![];
                            for port in &en.params {
                                for _ in 0..port.words() {
                                    let w = *it.next().unwrap();
                                    if p.slicing == Slicing::B {
                                        for b in (0..port.word).rev() {
                                            vals.push(w >> b & 1)
                                        }
                                    } else {
                                        vals.push(w)
                                    }
                                }
                            }
                            let out = ir::interp::run(&p, &vals).unwrap();
                            let mut o = out.into_iter();
                            let mut got = vec![];
                            for port in &en.results {
                                for _ in 0..port.words() {
                                    if p.slicing == Slicing::B {
                                        let mut w = 0u64;
                                        for _ in 0..port.word {
                                            w = w << 1 | o.next().unwrap()
                                        }
                                        got.push(w)
                                    } else {
                                        got.push(o.next().unwrap())
                                    }
                                }
                            }
                            if got != ev {
                                println!("MISMATCH {n} {got:?}");
                                std::process::exit(4)
                            }
                        }
                        println!(
                            "{n} ok {:?} nodes {} body {} vals {}",
                            el,
                            p.nodes.len(),
                            en.body.len(),
                            en.bits.len()
                        );
                        if std::env::var("DUMP").is_ok() {
                            println!("{}", ir::print::program(&p));
                        }
                    }
                }
            }
        }
    }
}
