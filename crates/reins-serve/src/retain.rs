//! Removes recordings that are too old or too many.

use crate::app::App;
use crate::clock::millis;
use crate::limits;
use std::sync::Arc;

/// Looks until the daemon stops, first at its start.
pub(crate) async fn retain(app: Arc<App>) {
    let mut tick = tokio::time::interval(limits::RETAIN_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.stop.cancelled() => return,
            _ = tick.tick() => once(&app).await,
        }
    }
}

async fn once(app: &App) {
    let (library, keep) = (app.witnesses.library.clone(), app.config.recordings.retention());
    let now = millis(app.clock.now());
    match tokio::task::spawn_blocking(move || library.retain(&keep, now)).await {
        Ok(Ok(gone)) => {
            for id in gone {
                tracing::info!(recording = %id, "a recording was removed: too old, or too many");
            }
        }
        Ok(Err(error)) => tracing::error!(%error, "old recordings could not be removed"),
        Err(error) => tracing::error!(%error, "the look for old recordings was broken off"),
    }
}
