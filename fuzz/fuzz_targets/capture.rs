//! Any bytes as what the page script sent.
#![no_main]

mod everything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(json) = std::str::from_utf8(bytes) {
        everything::with(json);
    }
});
