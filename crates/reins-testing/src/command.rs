//! What the command lines of the players share.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// The value after a flag.
pub fn value<'a>(arguments: &'a [String], flag: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == flag)?;
    arguments.get(at + 1).map(String::as_str)
}

/// A line on stdout.
///
/// # Errors
/// Nobody reads it any more.
pub fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

/// The end of a program; what failed is told on stderr, with its cause.
pub fn end<F: Error>(done: Result<(), F>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let source = failure.source().map(|source| format!(": {source}"));
            drop(writeln!(io::stderr(), "{failure}{}", source.unwrap_or_default()));
            ExitCode::FAILURE
        }
    }
}
