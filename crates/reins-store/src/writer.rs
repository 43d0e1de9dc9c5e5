//! The one writer thread of this process, and the handle that feeds it.

use crate::database;
use crate::error::StoreError;
use crate::key::Keyring;
use crate::owner::{self, Owner};
use crate::receipt::{self, COLUMNS, Finish, OpenReceipt, Receipt, ReceiptDraft, Seed};
use reins_core::ReceiptId;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, SystemTime};
use tokio::sync::{Semaphore, oneshot};

/// Receipts that may be open or waiting at once, over all sessions of the process. Each has at
/// most two jobs in the queue, which bounds the queue.
const OPEN_RECEIPTS: usize = 1_024;

/// Jobs written together, under one wait for the disk.
const BATCH: usize = 64;

/// After this long without work, the log is written back into the file, when nobody waits.
const QUIET: Duration = Duration::from_secs(2);

/// Receipts between two looks at what is too old to keep.
const PRUNE_EVERY: u64 = 1_000;

/// The durable state of Reins. A cheap handle; the file is closed when the last one and the last
/// open receipt are gone.
#[derive(Clone, Debug)]
pub struct Store {
    jobs: Sender<Job>,
    permits: Arc<Semaphore>,
}

/// What the writer thread is asked to do.
pub(crate) enum Job {
    Begin { draft: ReceiptDraft, seed: Seed, answer: Answer<OpenReceipt> },
    Finish(Finish),
    Other(Box<dyn FnOnce(&mut Desk) + Send>),
}

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Job::Begin { .. } => "Begin",
            Job::Finish(_) => "Finish",
            Job::Other(_) => "Other",
        })
    }
}

impl Store {
    /// Opens the file, makes it if it is not there, and brings it to the newest format. Blocks
    /// for a few milliseconds, and for up to two seconds while another process writes.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::start(path.into(), None)
    }

    pub(crate) fn start(path: PathBuf, keyring: Option<Keyring>) -> Result<Self, StoreError> {
        let desk = Desk { keyring, ..Desk::open(path)? };
        let (jobs, queue) = mpsc::channel();
        let path = desk.path.clone();
        thread::Builder::new()
            .name("reins-store".to_owned())
            .spawn(move || desk.work(&queue))
            .map_err(|source| StoreError::unwritable(path, source))?;
        Ok(Self { jobs, permits: Arc::new(Semaphore::new(OPEN_RECEIPTS)) })
    }

    pub(crate) async fn enqueue_begin(
        &self,
        draft: ReceiptDraft,
    ) -> Result<OpenReceipt, StoreError> {
        let permit =
            Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let seed = Seed { jobs: self.jobs.clone(), permit };
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job::Begin { draft, seed, answer }).map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Waits until everything asked before is written. Call it before the process ends, or the
    /// ends of the last acts may be lost and be reported as `unknown` at the next start.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.run(|_| Ok(())).await
    }

    /// Runs work on the writer thread, after everything that was asked before it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _permit = self.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let (answer, answered) = oneshot::channel();
        let job = Job::Other(Box::new(move |desk| {
            // Nobody listens any more: the work is done all the same.
            let _ = answer.send(work(desk));
        }));
        self.jobs.send(job).map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

/// How far a commit reaches before it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On the disk.
    Disk,
    /// Safe from the end of this process, not from a power cut. Enough for the end of an act:
    /// if it is lost, the act counts as unknown.
    System,
}

/// What the writer thread works with.
#[derive(Debug)]
pub(crate) struct Desk {
    connection: Connection,
    path: PathBuf,
    owner: Owner,
    durability: Durability,
    /// Another keyring than the system's.
    keyring: Option<Keyring>,
    begun: u64,
    /// Whether the log holds something that is not yet in the file.
    unsaved: bool,
}

impl Desk {
    /// The database file.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Another keyring than the system's.
    pub(crate) fn keyring(&self) -> Option<&Keyring> {
        self.keyring.as_ref()
    }

    /// The name of this process.
    pub(crate) fn owner_id(&self) -> &str {
        self.owner.id()
    }

    /// Whether a process runs.
    pub(crate) fn lives(&self, owner: &str) -> Result<bool, StoreError> {
        Ok(owner == self.owner.id() || owner::is_alive(&self.path, owner)?)
    }

    /// Writes the log back and empties it, so that what was removed is gone from there, too. Another
    /// process that reads just now keeps its part of the log, until the next time.
    pub(crate) fn empty_log(&self) -> Result<(), StoreError> {
        self.read(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })
    }

    fn open(path: PathBuf) -> Result<Self, StoreError> {
        let connection = database::open(&path)?;
        let owner = Owner::new(&path)?;
        let mut desk = Self {
            connection,
            path,
            owner,
            durability: Durability::Disk,
            keyring: None,
            begun: 0,
            unsaved: true,
        };
        let now = SystemTime::now();
        let id = desk.owner.id().to_owned();
        desk.write_at(Durability::System, |work| {
            work.execute(
                "INSERT INTO owners (id, pid, started_at) VALUES (?1, ?2, ?3)",
                params![id, std::process::id(), milliseconds(now)],
            )?;
            receipt::prune(work, now)
        })?;
        desk.forget_dead_owners(now)?;
        Ok(desk)
    }

    fn work(mut self, queue: &Receiver<Job>) {
        let mut batch = Vec::new();
        loop {
            let next = if self.unsaved {
                queue.recv_timeout(QUIET)
            } else {
                queue.recv().map_err(RecvTimeoutError::from)
            };
            match next {
                Ok(job) => batch.push(job),
                Err(RecvTimeoutError::Timeout) => {
                    self.save();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while batch.len() < BATCH
                && let Ok(job) = queue.try_recv()
            {
                batch.push(job);
            }
            self.serve(&mut batch);
        }
        self.close();
    }

    /// Does the jobs in order; neighbours that are receipts go into one commit.
    fn serve(&mut self, batch: &mut Vec<Job>) {
        let mut receipts = Vec::new();
        for job in batch.drain(..) {
            match job {
                Job::Other(work) => {
                    self.serve_receipts(&mut receipts);
                    work(self);
                }
                receipt => receipts.push(receipt),
            }
        }
        self.serve_receipts(&mut receipts);
    }

    fn serve_receipts(&mut self, jobs: &mut Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        match self.write_receipts(jobs) {
            Ok(ids) => answer(jobs.drain(..).zip(ids)),
            // Together they failed, so each finds out for itself.
            Err(_) if jobs.len() > 1 => {
                for job in jobs.drain(..) {
                    let mut alone = vec![job];
                    self.serve_receipts(&mut alone);
                }
            }
            Err(error) => {
                if let Some(job) = jobs.pop() {
                    fail(job, error);
                }
            }
        }
        if self.begun >= PRUNE_EVERY {
            self.begun = 0;
            let pruned =
                self.write_at(Durability::System, |work| receipt::prune(work, SystemTime::now()));
            if let Err(error) = pruned {
                tracing::warn!(%error, "old receipts could not be removed");
            }
        }
    }

    fn write_receipts(&mut self, jobs: &[Job]) -> Result<Vec<ReceiptId>, StoreError> {
        let begins = jobs.iter().filter(|job| matches!(job, Job::Begin { .. })).count();
        let durability = if begins > 0 { Durability::Disk } else { Durability::System };
        let owner = self.owner.id().to_owned();
        let ids = self.write_at(durability, |work| {
            jobs.iter()
                .map(|job| match job {
                    Job::Begin { draft, .. } => receipt::insert(work, &owner, draft),
                    Job::Finish(finish) => receipt::close(work, finish).map(|()| finish.id),
                    Job::Other(_) => Ok(ReceiptId(0)),
                })
                .collect()
        })?;
        self.begun += begins as u64;
        Ok(ids)
    }

    /// Writes durably.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_at(Durability::Disk, work)
    }

    pub(crate) fn write_at<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.unsaved = true;
        self.try_write(durability, work).map_err(|source| StoreError::database(&self.path, source))
    }

    fn try_write<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        if self.durability != durability {
            let setting = if durability == Durability::Disk { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", setting)?;
            self.durability = durability;
        }
        // Immediate, since a transaction that turns into a write later fails at once when
        // another process wrote meanwhile.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Reads.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|source| StoreError::database(&self.path, source))
    }

    /// Takes over the receipts of dead owners that have no end or were never reported.
    pub(crate) fn claim_interrupted(
        &mut self,
        now: SystemTime,
    ) -> Result<Vec<Receipt>, StoreError> {
        let suspects: Vec<String> = self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT owner FROM receipts WHERE outcome IS NULL
                     UNION SELECT claimed_by FROM receipts WHERE reported = 0",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
        })?;
        let dead = self.dead(suspects)?;
        let me = self.owner.id().to_owned();
        let mut claimed: Vec<Receipt> = self.write(|work| {
            let mut interrupt = work.prepare_cached(&format!(
                "UPDATE receipts SET outcome = 'unknown', code = 'interrupted', ended_at = ?3,
                 claimed_by = ?2, reported = 0 WHERE owner = ?1 AND outcome IS NULL
                 RETURNING {COLUMNS}"
            ))?;
            let mut inherit = work.prepare_cached(&format!(
                "UPDATE receipts SET claimed_by = ?2 WHERE claimed_by = ?1 AND reported = 0
                 RETURNING {COLUMNS}"
            ))?;
            let mut claimed = Vec::new();
            for owner in &dead {
                for row in inherit.query_map([owner, &me], receipt::receipt)? {
                    claimed.push(row?);
                }
                let values = params![owner, me, milliseconds(now)];
                for row in interrupt.query_map(values, receipt::receipt)? {
                    claimed.push(row?);
                }
            }
            Ok(claimed)
        })?;
        claimed.sort_by_key(|receipt| receipt.id);
        Ok(claimed)
    }

    fn dead(&self, owners: Vec<String>) -> Result<Vec<String>, StoreError> {
        let mut dead = Vec::new();
        for owner in owners {
            if !self.lives(&owner)? {
                dead.push(owner);
            }
        }
        Ok(dead)
    }

    /// Removes owners that are dead and left nothing to report, and their lock files.
    fn forget_dead_owners(&mut self, now: SystemTime) -> Result<(), StoreError> {
        let all: Vec<String> = self.read(|connection| {
            connection
                .prepare_cached("SELECT id FROM owners")?
                .query_map([], |row| row.get(0))?
                .collect()
        })?;
        let dead = self.dead(all.clone())?;
        self.write_at(Durability::System, |work| {
            let mut forget = work.prepare_cached("DELETE FROM owners WHERE id = ?1")?;
            dead.iter().try_for_each(|owner| forget.execute([owner]).map(drop))
        })?;
        // Without its file an owner counts as dead, which it is.
        owner::sweep(&self.path, &all, &dead, now);
        Ok(())
    }

    /// Writes the log back into the file. Other processes may be reading, so it may do less.
    fn save(&mut self) {
        self.unsaved = false;
        let saved = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let Err(error) = saved {
            tracing::debug!(%error, "the log could not be written back now");
        }
    }

    fn close(mut self) {
        let id = self.owner.id().to_owned();
        let forgotten = self.write_at(Durability::System, |work| {
            work.execute("DELETE FROM owners WHERE id = ?1", [id])
        });
        if let Err(error) = forgotten {
            tracing::debug!(%error, "the owner's row stays until the next start");
        }
        self.save();
    }
}

fn answer(done: impl Iterator<Item = (Job, ReceiptId)>) {
    for (job, id) in done {
        if let Job::Begin { seed, answer, .. } = job {
            // If nobody waits any more, the receipt is dropped here and closes itself.
            let _ = answer.send(Ok(OpenReceipt::new(id, seed)));
        }
    }
}

fn fail(job: Job, error: StoreError) {
    match job {
        Job::Begin { answer, .. } => drop(answer.send(Err(error))),
        Job::Finish(finish) => {
            tracing::warn!(%error, id = %finish.id, "the end of an act was not recorded");
        }
        Job::Other(_) => {}
    }
}

/// Milliseconds since 1970, as the file keeps times.
pub(crate) fn milliseconds(at: SystemTime) -> i64 {
    at.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_core::{Action, Outcome, SessionId, StepId, TabId, TurnId};

    fn draft(step: u32) -> ReceiptDraft {
        let act =
            Action::Navigate { tab: TabId::new("T"), url: "https://shop.example/".to_owned() };
        ReceiptDraft::new(SessionId::new("S"), TurnId(1), StepId(step), &act, SystemTime::now())
    }

    /// A full disk refuses acts, with its own code, and acts go on when there is room again.
    #[tokio::test]
    async fn a_full_disk_refuses_and_recovers() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().join("reins.db")).expect("a store");
        let limit = |pages: i64| {
            store.run(move |desk| {
                desk.read(|connection| {
                    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
                })
            })
        };
        limit(1).await.expect("a limit");
        let mut recorded = 0;
        let error = loop {
            match store.begin(draft(recorded)).await {
                Ok(open) => {
                    recorded += 1;
                    open.finish(&Outcome::Completed);
                }
                Err(error) => break error,
            }
        };
        assert_eq!(error.code(), "store_full");
        limit(1_000_000).await.expect("no limit");
        store.begin(draft(recorded)).await.expect("room").finish(&Outcome::Completed);
        let kept = store.receipts(u32::MAX).await.expect("receipts");
        assert_eq!(kept.len(), recorded as usize + 1);
        assert!(kept.iter().all(|receipt| receipt.end.is_some()));
    }

    /// A receipt waits for the disk; its end does not.
    #[tokio::test]
    async fn a_receipt_is_on_the_disk_before_it_is_answered() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().join("reins.db")).expect("a store");
        let level = || {
            store.run(|desk| {
                desk.read(|connection| {
                    connection.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0))
                })
            })
        };
        let open = store.begin(draft(1)).await.expect("a receipt");
        assert_eq!(level().await.expect("a level"), 2, "FULL");
        open.finish(&Outcome::Completed);
        assert_eq!(level().await.expect("a level"), 1, "NORMAL");
        drop(store.begin(draft(2)).await.expect("a receipt"));
    }

    /// One bad receipt in a batch does not take the others with it.
    #[tokio::test]
    async fn neighbours_of_a_failed_receipt_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().join("reins.db")).expect("a store");
        store
            .run(|desk| {
                desk.write(|work| {
                    work.execute_batch(
                        "CREATE TRIGGER bad BEFORE INSERT ON receipts WHEN NEW.step = 2
                         BEGIN SELECT RAISE(ABORT, 'bad'); END",
                    )
                })
            })
            .await
            .expect("a trigger");
        let (one, two, three) =
            tokio::join!(store.begin(draft(1)), store.begin(draft(2)), store.begin(draft(3)));
        assert_eq!(two.expect_err("a failure").code(), "store_database");
        one.expect("a receipt").finish(&Outcome::Completed);
        three.expect("a receipt").finish(&Outcome::Completed);
        assert_eq!(store.receipts(9).await.expect("receipts").len(), 2);
    }
}
