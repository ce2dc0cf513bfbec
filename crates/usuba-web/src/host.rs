//! The functions that the module exports: memory for a question, the call, the message of a panic.
//!
//! The page writes a question to the memory of `room(length)` and calls `call()`. The answer
//! begins at the returned address with four bytes of its length. After a panic the module is lost:
//! the page reads `fault()`, which has the same form, and makes a new one.
#![cfg(target_family = "wasm")]

use std::cell::RefCell;
use std::panic;

use crate::Session;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
    static QUESTION: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a text where the page can read it.
fn kept(text: &str) -> *const u8 {
    ANSWER.with_borrow_mut(|kept| {
        kept.clear();
        kept.extend_from_slice(&(text.len() as u32).to_le_bytes());
        kept.extend_from_slice(text.as_bytes());
        kept.as_ptr()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    panic::set_hook(Box::new(|info| {
        kept(&info.to_string());
    }));
    QUESTION.with_borrow_mut(|question| {
        question.clear();
        question.resize(length, 0);
        question.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn call() -> *const u8 {
    let question = QUESTION.take();
    let answer = SESSION.with_borrow_mut(|session| session.answer(&question));
    kept(&answer)
}

#[unsafe(no_mangle)]
pub extern "C" fn fault() -> *const u8 {
    ANSWER.with_borrow(|kept| kept.as_ptr())
}
