//! Requests as they arrived.

use serde::Serialize;

/// One request, or one bare connection or datagram, at a server of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Whose server: `shop`, `evil`, …, with what stood before it in the host (`www.evil`).
    pub party: String,
    /// The method; `WS` for the opening of a WebSocket, `TCP` and `UDP` for what came without HTTP.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The body as text.
    pub body: String,
}

impl Hit {
    /// `evil GET /x?d=1`.
    pub fn line(&self) -> String {
        let Self { party, method, path, body } = self;
        if body.is_empty() {
            format!("{party} {method} {path}")
        } else {
            let start: String = body.chars().take(SHOWN_BODY).collect();
            format!("{party} {method} {path} ~ {start}")
        }
    }
}

/// Enough of a body to know it again.
const SHOWN_BODY: usize = 80;
