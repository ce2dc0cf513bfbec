
// SAFETY: the header says so.
unsafe impl Tweaked for @TYPE@ {
    type TweakSize = cipher::consts::U@TWEAK@;
    type BlockSize = cipher::consts::U@OUT@;
    const ENCRYPT: BlocksFunction<Self> = @C@@FORWARDS@_blocks;
    const DECRYPT: BlocksFunction<Self> = @C@@BACKWARDS@_blocks;
}
