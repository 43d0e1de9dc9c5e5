//! `reins mcp`.

use crate::cli::McpArgs;
use crate::exit;
use anyhow::Result;
use reins_control::{Control, ControlOptions, Group};
use reins_core::Secret;
use reins_mcp::{McpOptions, Names, ToolChoice, serve_stdio};
use reins_serve::{SOCKET, ServerAddress};
use std::path::PathBuf;
use std::process::ExitCode;

/// Serves until the client closes stdin, or a signal comes; the browser never outlives it.
pub(crate) async fn main(args: McpArgs) -> Result<ExitCode> {
    if let Some(session) = &args.session {
        return shim(session, args.server.as_deref(), args.browser.data_dir()?).await;
    }
    let tools = ToolChoice::parse(&args.tools)?;
    let names = Names::from(args.names);
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

/// Hands an MCP client's messages to a sandbox of `reins serve`, and its answers back.
async fn shim(sandbox: &str, server: Option<&str>, data_dir: PathBuf) -> Result<ExitCode> {
    let token =
        std::env::var("REINS_TOKEN").ok().filter(|token| !token.is_empty()).map(Secret::new);
    let server = match server {
        None => ServerAddress::Socket(data_dir.join(crate::serve::DIR).join(SOCKET)),
        Some(url) if url.contains("://") => ServerAddress::Http(url.to_owned()),
        Some(path) => ServerAddress::Socket(path.into()),
    };
    let (stdin, stdout) = (tokio::io::stdin(), tokio::io::stdout());
    tokio::select! {
        done = reins_serve::mcp_shim(&server, token, sandbox, stdin, stdout) => done?,
        () = interrupted() => {}
    }
    Ok(ExitCode::from(exit::DONE))
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
