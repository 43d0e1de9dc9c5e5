//! Logs go to stderr, because stdout belongs to MCP and to answers.

use tracing_subscriber::EnvFilter;

/// Starts logging: warnings only, unless `-v` or `REINS_LOG` says more.
pub(crate) fn start(verbose: u8) {
    let default = match verbose {
        // Agents ask for prompts and resources that a run does not have; that is no news to a person.
        0 => "warn,rmcp=error",
        1 => "reins=info,warn,rmcp=error",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("REINS_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // A second start, as in tests, keeps the first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .try_init();
}
