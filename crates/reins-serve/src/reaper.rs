//! Ends what is over: sandboxes at their expiry, and with them their browsers and boot commands (S-124).

use crate::app::App;
use crate::limits;
use crate::session::End;
use reins_store::SandboxPhase;
use std::sync::Arc;

/// Looks until the daemon stops.
pub(crate) async fn reap(app: Arc<App>) {
    let mut tick = tokio::time::interval(limits::REAPER_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.stop.cancelled() => return,
            _ = tick.tick() => once(&app).await,
        }
    }
}

/// Looks once.
pub(crate) async fn once(app: &App) {
    app.keep_ends().await;
    let sandboxes = match app.store.all_sandboxes().await {
        Ok(sandboxes) => sandboxes,
        Err(error) => {
            tracing::error!(%error, "expired sandboxes could not be looked for");
            return;
        }
    };
    let now = app.clock.now();
    for sandbox in sandboxes {
        // A browser's own deadline is on a clock that nobody can set; this one sees the wall clock being set
        // forward, and a machine that slept.
        let over = sandbox.expires_at <= now;
        let stops = sandbox.expires_at - limits::STOP_BEFORE_EXPIRY <= now;
        if stops && let Some(session) = app.known_room(&sandbox.id).and_then(|room| room.running())
        {
            session.end(if over { End::Reaped } else { End::Deadline });
        }
        if over && sandbox.phase != SandboxPhase::Expired {
            let id = sandbox.id.clone();
            if let Err(error) = app.store.set_sandbox_phase(id, SandboxPhase::Expired, None).await {
                tracing::error!(%error, "an expired sandbox could not be marked");
            }
            app.end_room(&sandbox.id, End::Reaped);
        }
        if sandbox.expires_at + limits::EXPIRED_KEPT <= now {
            let removed = app.store.remove_sandbox(sandbox.tenant, sandbox.id.clone()).await;
            if let Err(error) = removed {
                tracing::error!(%error, "an expired sandbox could not be forgotten");
            }
            app.end_room(&sandbox.id, End::Reaped);
        }
    }
}
