//! What an agent starts as its MCP server: a pipe between its stdin and stdout and the run.

use crate::error::AcpError;
use std::io;
use tokio::io::{AsyncWriteExt, copy, stdin, stdout};
use tokio::net::UnixStream;

/// The hidden subcommand.
pub const SHIM: &str = "mcp-shim";

/// Where the run listens.
pub(crate) const SOCKET: &str = "REINS_RUN_SOCKET";

/// The run's secret. In the environment, which only the same user can read, and not among the
/// arguments, which everybody can.
pub(crate) const SECRET: &str = "REINS_RUN_SECRET";

/// Connects to the run and copies both ways until either side ends.
///
/// # Errors
///
/// Fails if it was not started by an agent of a run, or if that run is over.
pub async fn shim() -> Result<(), AcpError> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (Some(socket), Some(secret)) = (variable(SOCKET), variable(SECRET)) else {
        return Err(AcpError::NotInRun);
    };
    join(&socket, &secret).await.map_err(AcpError::RunOver)
}

async fn join(socket: &str, secret: &str) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(format!("{secret}\n").as_bytes()).await?;
    let (mut from_run, mut to_run) = stream.into_split();
    let (mut input, mut output) = (stdin(), stdout());
    let there = async {
        copy(&mut input, &mut to_run).await?;
        to_run.shutdown().await
    };
    let back = async {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let n = tokio::io::AsyncReadExt::read(&mut from_run, &mut chunk).await?;
            if n == 0 {
                return Ok(());
            }
            output.write_all(&chunk[..n]).await?;
            // The agent waits for whole messages, not for full buffers.
            output.flush().await?;
        }
    };
    // The run's end is ours. The agent's end is told to the run, whose last answer may still come.
    let there = async {
        if there.await.is_err() {
            return;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = back => ended,
        () = there => Ok(()),
    }
}
