//! `reins mcp`.

use crate::cli::{McpArgs, NamesFlag};
use crate::exit;
use anyhow::Result;
use reins_control::{Control, ControlOptions, Group};
use reins_mcp::{McpOptions, Names, ToolChoice, serve_stdio};
use std::process::ExitCode;

/// Serves until the client closes stdin, or a signal comes; the browser never outlives it.
pub(crate) async fn main(args: McpArgs) -> Result<ExitCode> {
    let tools = ToolChoice::parse(&args.tools)?;
    let names = match args.names {
        NamesFlag::Reins => Names::Reins,
        NamesFlag::Playwright => Names::Playwright,
    };
    let options = ControlOptions {
        strict_clicks: args.strict_clicks,
        // Among Playwright's names those that need it are in the core.
        inspect: tools.has_any_of(Group::Inspect) || names == Names::Playwright,
        ..args.browser.options()?
    };
    let control = Control::open(options).await?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let served = tokio::select! {
        served = serve_stdio(control.clone(), McpOptions { tools, names, version }) => served.map_err(Into::into),
        () = interrupted() => Ok(()),
    };
    control.close().await;
    served.map(|()| ExitCode::from(exit::DONE))
}

/// Until SIGINT, SIGTERM or SIGHUP.
pub(crate) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = async |kind: SignalKind| match signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        // Without a handler the default action ends us anyway.
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
    }
}
