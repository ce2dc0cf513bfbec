//! @TITLE@.
//!
@SPEC@

@USES@@ITEMS@
