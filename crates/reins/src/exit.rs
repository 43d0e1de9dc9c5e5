//! Exit codes that mean something.

use std::io::Write;
use std::process::ExitCode;

/// The task was done.
pub(crate) const DONE: u8 = 0;
/// Something went wrong; the message says what and what to do next.
pub(crate) const FAILED: u8 = 1;
/// The task ended unfinished: step limit, loop, or the model gave up.
pub(crate) const UNFINISHED: u8 = 3;
/// The person stopped it (also Ctrl-C).
pub(crate) const STOPPED: u8 = 130;

/// What each code means, in the manual and in docs/run.md.
pub(crate) const MEANINGS: &[(u8, &str)] = &[
    (DONE, "the command did what it was asked; for a run: the task was done"),
    (FAILED, "something went wrong; the message on stderr says what, and what to do next"),
    (2, "the command line was not understood; nothing was done"),
    (
        UNFINISHED,
        "the run ended before its task was done: its calls were used up, it went in circles, or no step worked",
    ),
    (STOPPED, "you stopped it"),
];

/// Prints an error with its causes and returns the code for it.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    let mut stderr = std::io::stderr().lock();
    // Nothing better can be done if stderr is gone.
    let _ = writeln!(stderr, "error: {error:#}");
    ExitCode::from(FAILED)
}
