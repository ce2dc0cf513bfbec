//! Tests of the experiment file format, and of wrong or unproved steps.

use usuba::isa::cpu;

use super::*;
use usuba::passes::pipeline::PipelineOptions;

const PROGRAM: &str = "\
#include \"bare.h\"
#include KERNELS
static uint32_t answer;
static int next(void) { const uint32_t a = 41; k_next(&a, &answer); return 0; }
static int work(void) { return measure(1, \"next\", next) || answer != 42; }
";

const TEXT: &str = r#"
    title = "t"
    about = "a"
    program = "t.c"
    processors = ["rv32im", "rv32imc"]
    levels = ["-O0", "-O2"]
    quick = ["-O2"]
    [[step]]
    label = "right"
    source = "right.ua"
    nodes = ["next"]
    [[step]]
    label = "another answer"
    source = "another.ua"
    nodes = ["next"]
    [[step]]
    label = "another promise"
    source = "promise.ua"
    nodes = ["next"]
"#;

fn parse(text: &str) -> Result<Counted, String> {
    let mut counted: Counted = toml::from_str(text).map_err(|error| error.to_string())?;
    counted.check(Path::new(".")).map(|()| counted)
}

#[test]
fn what_does_not_fit_is_refused() {
    for (old, new, why) in [
        ("quick = [\"-O2\"]", "quick = [\"-O3\"]", "no level `-O3`"),
        ("\"rv32imc\"]", "\"rv32im -o x\"]", "is no processor"),
        ("source = \"right.ua\"", "", "needs a source and nodes"),
        ("source = \"right.ua\"\n    nodes = [\"next\"]", "", "there is no library"),
        ("label = \"right\"", "label = \"right\"\ncolour = 1", "colour"),
    ] {
        let error = parse(&TEXT.replacen(old, new, 1)).expect_err("it does not fit");
        assert!(error.contains(why), "{error}");
    }
}

/// A step with a wrong result has no numbers, and a step with a violated contract is not proved.
#[test]
fn only_what_is_right_and_proved_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = |sum: &str, promise: &str| {
        format!(
            "node next (a:u32 in [0, 100]) returns (r:u32 in [0, 102])\n\
             ensures r == {promise}\nlet\n  r = {sum}\ntel\n"
        )
    };
    for (name, text) in [
        ("t.c", PROGRAM.to_string()),
        ("right.ua", node("a + 1", "a + 1")),
        ("another.ua", node("a + 2", "a + 2")),
        ("promise.ua", node("a + 1", "a + 2")),
    ] {
        fs::write(folder.path().join(name), text).expect("the folder can be written");
    }
    let no_flags = |_: &str| Ok((PipelineOptions::default(), cpu::ALL[0]));
    let counted = parse(TEXT).expect("it is well-formed");
    let measure = |before: &[Shown]| {
        counted.measure(folder.path(), true, &no_flags, before, &mut |_| Ok(()), &mut |_| {})
    };
    let found = match measure(&[]) {
        Ok(found) => found,
        Err(why) => {
            println!("skipped instructions on RV32: {why}");
            return;
        }
    };
    let [right, answer, promise] = &found.steps[..] else { panic!("{found:?}") };
    assert_eq!((&right.proof, &answer.proof), (&Ok(1), &Ok(1)));
    assert!(promise.proof.as_ref().is_err_and(|why| why.contains("does not hold")), "{found:?}");
    for (shown, good) in [(right, true), (answer, false), (promise, true)] {
        let numbers = &shown.numbers[0][0];
        assert_eq!(numbers.is_ok(), good, "{found:?}");
        assert!(numbers.as_ref().is_ok_and(|n| n.instructions < 100 && n.text > 100) == good);
    }
    assert!(Counted::is_wrong(&found));
    let report = counted.report(&found, &counted.lines(&found, true, "1", "t"));
    assert!(report.contains("| another answer | it computes something else | yes"), "{report}");
    assert!(report.contains("| another promise | 0.0000 | **no**: "), "{report}");
    // Finished steps are kept, and measured again if their program changes.
    let mut before = found.steps.clone();
    before[0].proof = Ok(77);
    assert_eq!(measure(&before).expect("as before").steps, before);
    fs::write(folder.path().join("right.ua"), node("1 + a", "a + 1")).expect("written");
    assert_eq!(measure(&before).expect("as before").steps[0].proof, Ok(1));
}

#[test]
fn unknown_places_of_published_numbers_are_refused() {
    let claim = "[[published]]\nfrom = { file = \"no.json\", row = \"r\", column = \"c\" }\n\
                 step = \"right\"\nprocessor = \"rv32im\"\nlevel = \"-O2\"\n\
                 ours = \"instructions/another answer\"\n";
    for (old, new, why) in [
        ("\"right\"", "\"rihgt\"", "no step `rihgt`; help: did you mean `right`?"),
        ("\"rv32im\"", "\"rv64\"", "no processor `rv64`"),
        ("\"-O2\"", "\"-O7\"", "no level `-O7`"),
        ("instructions/", "cycles/", "no quantity `cycles`"),
        ("another answer", "none", "no step or processor `none`"),
        ("c\"", "c\"", "cannot read ./no.json"),
    ] {
        let error = parse(&format!("{TEXT}{}", claim.replacen(old, new, 1))).expect_err("unknown");
        assert!(error.contains(why), "{error}");
    }
}
