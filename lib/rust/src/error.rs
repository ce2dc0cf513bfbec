//! The errors.

use core::ffi::c_int;
use core::fmt;

/// The reason of a failed call, which leaves its outputs unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A length that the function does not take, or two that must be equal and are not.
    Length,
    /// The counter of a keystream would overflow.
    Counter,
    /// There is no such backend, or this processor does not have it.
    Backend,
    /// A call that comes too late, such as more of a message whose output has begun.
    State,
    /// Parameters that contradict each other.
    Parameter,
    /// A tag or a signature does not belong to the message.
    Forged,
    /// A point of small order, with which no secret can be agreed on.
    Point,
}

impl Error {
    /// The status of a C function. The others of its errors are pointers that this crate never
    /// passes.
    pub(crate) fn check(status: c_int) -> Result<(), Error> {
        match status {
            0 => Ok(()),
            2 => Err(Error::Length),
            3 => Err(Error::Counter),
            5 => Err(Error::Backend),
            6 => Err(Error::State),
            7 => Err(Error::Parameter),
            8 => Err(Error::Forged),
            9 => Err(Error::Point),
            _ => unreachable!("slices are not null, and do not overlap"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Length => "a length that does not fit",
            Error::Counter => "the key stream ends before",
            Error::Backend => "there is no such backend here",
            Error::State => "a call that comes too late",
            Error::Parameter => "parameters that do not go together",
            Error::Forged => "a tag or a signature that is not that of the message",
            Error::Point => "a point of small order",
        })
    }
}

impl core::error::Error for Error {}
