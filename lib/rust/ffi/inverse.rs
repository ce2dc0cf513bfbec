
// SAFETY: the header says so.
unsafe impl Inverse for @TYPE@ {
    const DECRYPT: BlocksFunction<Self> = @C@@BACKWARDS@_blocks;
}
