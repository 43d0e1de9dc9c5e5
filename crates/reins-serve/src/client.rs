//! Asking a running daemon over the owner's socket.

use crate::error::ServeError;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// The daemon answers this at once.
const ANSWER: Duration = Duration::from_secs(10);

/// A fresh link that signs the owner's dashboard in, once.
///
/// # Errors
///
/// Fails if no daemon listens there, or it has no port.
pub async fn dashboard_link(socket: &Path) -> Result<String, ServeError> {
    let nobody = |error: reqwest::Error| {
        let place = socket.display();
        ServeError::Internal(format!("no daemon answers at {place} ({error}); start `reins serve`"))
    };
    let client = reqwest::Client::builder()
        .unix_socket(socket)
        .no_proxy()
        .timeout(ANSWER)
        .build()
        .map_err(nobody)?;
    let answer = client.post("http://reins/v1/codes").send().await.map_err(nobody)?;
    let body: Value = answer.json().await.map_err(nobody)?;
    let url = body.get("url").and_then(Value::as_str);
    url.map(str::to_owned).ok_or_else(|| {
        ServeError::Internal(
            "the daemon has no port for a dashboard; start it without --no-port".into(),
        )
    })
}
