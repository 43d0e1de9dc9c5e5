//! What happens in a run, counted: entries of its journal, receipts, and requests to the page's server
//! and to the model's. At a chosen count the program is killed.

use reins_store::Store;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Counts, and kills when it is time.
#[derive(Debug, Default)]
pub struct Events {
    count: AtomicU64,
    /// The count at which the program dies; 0 is never.
    at: AtomicU64,
    pid: Mutex<Option<u32>>,
}

impl Events {
    /// The program that is watched from here on, and the count at which it dies.
    pub fn arm(&self, pid: u32, at: u64) {
        *self.pid.lock().unwrap() = Some(pid);
        self.count.store(0, Ordering::SeqCst);
        self.at.store(at, Ordering::SeqCst);
    }

    /// How much has happened.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Something happened. If it was the last thing that should, the program is dead when this returns.
    pub fn happened(&self) {
        let now = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        if now == self.at.load(Ordering::SeqCst)
            && let Some(pid) = self.pid.lock().unwrap().take()
        {
            // It may have ended by itself in this moment.
            Command::new("kill").args(["-9", &pid.to_string()]).output().unwrap();
        }
    }
}

/// Follows the store of a data directory.
pub struct Follower {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    pub fn start(data: &Path, events: Arc<Events>) -> Self {
        let store = Store::open(data.join("reins.db")).unwrap();
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut seen = runtime.block_on(rows(&store));
            while !ended.load(Ordering::SeqCst) {
                let now = runtime.block_on(rows(&store));
                for _ in seen..now {
                    events.happened();
                }
                seen = seen.max(now);
                std::thread::yield_now();
            }
        });
        Self { end, thread: Some(thread) }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Entries of the newest conversation, and receipts begun and ended.
async fn rows(store: &Store) -> usize {
    let entries = store.conversations(1).await.unwrap().first().map_or(0, |run| run.entries);
    let receipts = store.receipts(u32::MAX).await.unwrap();
    let ended = receipts.iter().filter(|receipt| receipt.end.is_some()).count();
    entries as usize + receipts.len() + ended
}
