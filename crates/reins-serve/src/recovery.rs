//! What a daemon that was killed left: its browsers ended with it, and here that is written down.

use crate::app::App;
use crate::error::ServeError;
use reins_store::SandboxPhase;

/// Marks what was under way as ended, and removes what sessions kept for themselves.
pub(crate) async fn recover(app: &App) -> Result<(), ServeError> {
    let now = app.clock.now();
    let why = "the daemon ended while this browser ran, and the browser with it. Start it again";
    let lost = app.store.fail_open_sessions(now, why.to_owned()).await?;
    for session in &lost {
        tracing::warn!(session = %session.id, "the last daemon ended while this browser ran");
    }
    let runs = app.store.fail_open_runs(now).await?;
    if runs > 0 {
        tracing::warn!(runs, "the last daemon ended while these runs were under way");
    }
    for sandbox in app.store.all_sandboxes().await? {
        if sandbox.expires_at <= now {
            if sandbox.phase != SandboxPhase::Expired {
                app.store.set_sandbox_phase(sandbox.id, SandboxPhase::Expired, None).await?;
            }
            continue;
        }
        // Its command ended with the daemon.
        if sandbox.command.is_some() && sandbox.phase != SandboxPhase::Failed {
            let why =
                "the daemon was started again, and the app it had booted ended. Make a new sandbox";
            let failed = SandboxPhase::Failed;
            app.store.set_sandbox_phase(sandbox.id, failed, Some(why.to_owned())).await?;
        }
    }
    match tokio::fs::remove_dir_all(app.sessions_folder()).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, "folders of earlier sessions could not be removed");
        }
        _ => {}
    }
    Ok(())
}
