
/// CBC decryption and XTS from their definitions on single blocks.
#[test]
fn @NAME@_modes() {
    use @CRATE@::@MODULE@::@TYPE@;
    let first = @TYPE@::new(&Array::from_fn(|i| i as u8));
    let second = @TYPE@::new(&Array::default());
    let message: Vec<u8> = (0..16 * 40).map(|i| (i * i) as u8).collect();
    let tweak = [7; 16];
    // CBC, encrypted block by block.
    let mut text = message.clone();
    let mut last = tweak;
    for block in text.chunks_mut(16) {
        block.iter_mut().zip(last).for_each(|(byte, old)| *byte ^= old);
        first.encrypt_block(block.try_into().expect("16 bytes"));
        last.copy_from_slice(block);
    }
    first.cbc_decrypt(&tweak, &mut text[..]).expect("whole blocks");
    assert_eq!(text, message);
    assert_eq!(first.cbc_decrypt(&tweak, &mut text[1..]), Err(Error::Length));
    assert_eq!(text, message);
    // XTS: the first block, and there and back with a stolen end.
    first.xts_encrypt(&second, &tweak, &mut text[3..]).expect("more than a block");
    let mut mask = Array::from(tweak);
    second.encrypt_block(&mut mask);
    let mut block = Array::from_fn(|i| message[3 + i] ^ mask[i]);
    first.encrypt_block(&mut block);
    assert!((0..16).all(|i| text[3 + i] == block[i] ^ mask[i]));
    first.xts_decrypt(&second, &tweak, &mut text[3..]).expect("as long");
    assert_eq!(text, message);
    assert_eq!(first.xts_encrypt(&second, &tweak, &mut text[..15]), Err(Error::Length));
}
