//! The last words of a child.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of a child's error output is kept: enough for the reason of a failed start.
const KEPT_BYTES: usize = 8 * 1024;

/// The tail of what a child writes on its error output. Read for good: a child whose error output is
/// full stops. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Reads until the output ends.
    pub async fn listen(self, mut output: impl AsyncRead + Unpin) {
        let mut chunk = [0; 1024];
        while let Ok(n @ 1..) = output.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&chunk[..n]);
            let over = kept.len().saturating_sub(KEPT_BYTES);
            kept.drain(..over);
        }
    }

    /// What it wrote last.
    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_a_long_output_is_kept() {
        let tail = Tail::default();
        let output = format!("{}\nthe reason\n", "x".repeat(3 * KEPT_BYTES));
        tail.clone().listen(output.as_bytes()).await;
        let text = tail.text();
        assert!(text.ends_with("the reason") && text.len() <= KEPT_BYTES, "{}", text.len());
    }
}
