//! Telling the usage hook what each browser ran, until it took it: also what a dead daemon left untold.

use crate::app::App;
use crate::limits;
use std::sync::Arc;
use tokio::sync::Notify;

/// Wakes the one who tells.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    woken: Notify,
}

impl Usage {
    /// There is something to tell.
    pub(crate) fn wake(&self) {
        self.woken.notify_one();
    }
}

/// Tells until the daemon stops.
pub(crate) async fn tell(app: Arc<App>) {
    loop {
        once(&app).await;
        tokio::select! {
            () = app.stop.cancelled() => break,
            () = app.usage.woken.notified() => {}
            // What was not taken is told again.
            () = tokio::time::sleep(limits::UNTOLD_EVERY) => {}
        }
    }
}

/// Tells what is untold; ends at the first that is not taken.
pub(crate) async fn once(app: &App) {
    let untold = match app.store.untold_sessions(limits::UNTOLD).await {
        Ok(untold) => untold,
        Err(error) => {
            tracing::error!(%error, "untold usage could not be read");
            return;
        }
    };
    for session in untold {
        if !app.hooks.usage(app, &session).await {
            tracing::warn!(session = %session.id, "usage was not taken; it is told again later");
            return;
        }
        if let Err(error) = app.store.session_told(session.id.clone()).await {
            tracing::error!(%error, "that usage was told could not be kept");
            return;
        }
    }
}
