
// SAFETY: the header says so.
unsafe impl Blocks for @TYPE@ {
    type Parallel = cipher::consts::U@PARALLEL@;
    const ENCRYPT: BlocksFunction<Self> = @C@@FORWARDS@_blocks;
}
