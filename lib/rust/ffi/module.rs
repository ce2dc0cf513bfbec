//! The C of @TITLE@, as the header declares it.

use super::*;
@ITEMS@
