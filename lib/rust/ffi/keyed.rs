
// SAFETY: the header says so.
unsafe impl Map for @TYPE@ {
    type Input = cipher::consts::U@IN@;
    type Output = cipher::consts::U@OUT@;
    const MAP: BlocksFunction<Self> = @C@@FORWARDS@_blocks;
}
