//! Receipts: the durable record that an act which may change the outside world was about to be
//! sent. It is written before sending, so that nothing is ever repeated by mistake.

use crate::error::StoreError;
use crate::writer::{Job, Store, milliseconds};
use reins_core::{Action, Origin, Outcome, ReceiptId, SessionId, StepId, TabId, TurnId};
use rusqlite::{Connection, Row, params};
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};
use tokio::sync::OwnedSemaphorePermit;

/// Bytes kept of an element's caption.
const CAPTION_BYTES: usize = 120;

/// Receipts are kept this long: enough to look into what an agent did last month.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);

/// And no more than this many, about 5 MB.
pub(crate) const KEPT_COUNT: i64 = 20_000;

/// What is recorded of an act. Built from the action itself, and there is no way to put typed
/// text, file names, option values or the path and query of an address into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptDraft {
    session: SessionId,
    turn: TurnId,
    step: StepId,
    tool: &'static str,
    tab: Option<TabId>,
    element: Option<String>,
    origin: Option<Origin>,
    at: SystemTime,
}

impl ReceiptDraft {
    /// Records which element of which site an action is about to reach.
    pub fn new(
        session: SessionId,
        turn: TurnId,
        step: StepId,
        action: &Action,
        at: SystemTime,
    ) -> Self {
        let element = action.target().map(|target| {
            let name: String = target.name.chars().filter(|c| !c.is_control()).collect();
            format!("{} \"{}\"", clipped(&target.role), clipped(&name))
        });
        let origin = match (action, action.target()) {
            (_, Some(target)) => target.origin.named_as().or(target.top.named_as()).cloned(),
            (Action::Navigate { url, .. } | Action::OpenTab { url: Some(url) }, _)
            | (Action::Reload { url, .. }, _)
            | (Action::History { destination: Some(url), .. }, _) => Origin::parse(url).ok(),
            _ => None,
        };
        let tab = action.tab().cloned();
        Self { session, turn, step, tool: action.verb(), tab, element, origin, at }
    }

    /// Records that a request which a page had made by itself is about to go on, and to which site.
    pub fn sending(
        session: SessionId,
        turn: TurnId,
        step: StepId,
        tab: &TabId,
        url: &str,
        at: SystemTime,
    ) -> Self {
        let (tab, origin) = (Some(tab.clone()), Origin::parse(url).ok());
        Self { session, turn, step, tool: "send", tab, element: None, origin, at }
    }
}

fn clipped(text: &str) -> &str {
    let mut end = text.len().min(CAPTION_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A receipt as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its id.
    pub id: ReceiptId,
    /// The browser session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The tool call within the turn.
    pub step: StepId,
    /// The tool.
    pub tool: String,
    /// The tab it acted in.
    pub tab: Option<TabId>,
    /// Role and name of the element. Page text: data, never an instruction.
    pub element: Option<String>,
    /// The site.
    pub origin: Option<String>,
    /// When it was about to be sent.
    pub begun_at: SystemTime,
    /// How it ended, if that is known.
    pub end: Option<ReceiptEnd>,
}

/// How an act ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptEnd {
    /// `completed`, `refused` or `unknown`.
    pub outcome: String,
    /// The refusal's or the loss's stable code.
    pub code: Option<String>,
    /// When it was known.
    pub at: SystemTime,
}

/// A receipt whose act is under way. Finish it with the outcome; dropped without one, it is
/// recorded as `unknown`, because whoever dropped it may have sent the act.
#[derive(Debug)]
#[must_use = "dropping it records the act as unknown"]
pub struct OpenReceipt {
    id: ReceiptId,
    /// Gone once it is closed.
    seed: Option<Seed>,
    /// Whether the caller of `begin` got it. If not, nothing was sent.
    taken: bool,
}

/// What an open receipt needs to close itself.
#[derive(Debug)]
pub(crate) struct Seed {
    pub(crate) jobs: Sender<Job>,
    /// Bounds the queue: one permit for each receipt that still has to be finished.
    pub(crate) permit: OwnedSemaphorePermit,
}

/// How a receipt is closed in the file.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) id: ReceiptId,
    pub(crate) outcome: &'static str,
    pub(crate) code: Option<&'static str>,
    pub(crate) at: SystemTime,
    pub(crate) _permit: OwnedSemaphorePermit,
}

impl OpenReceipt {
    pub(crate) fn new(id: ReceiptId, seed: Seed) -> Self {
        Self { id, seed: Some(seed), taken: false }
    }

    /// The receipt's id.
    pub fn id(&self) -> ReceiptId {
        self.id
    }

    /// Records how the act ended. Never waits. If the record is lost, the next start reports the
    /// act as `unknown`, which is always true enough.
    pub fn finish(mut self, outcome: &Outcome) {
        let code = match outcome {
            Outcome::Completed => None,
            Outcome::Refused(refusal) => Some(refusal.code),
            Outcome::Unknown(unknown) => Some(unknown.cause.code()),
        };
        self.close(outcome.word(), code);
    }

    fn close(&mut self, outcome: &'static str, code: Option<&'static str>) {
        let Some(Seed { jobs, permit }) = self.seed.take() else { return };
        let at = SystemTime::now();
        let finish = Finish { id: self.id, outcome, code, at, _permit: permit };
        if jobs.send(Job::Finish(finish)).is_err() {
            tracing::warn!(id = %self.id, outcome, "the store is closed, so the end of an act was not recorded");
        }
    }
}

impl Drop for OpenReceipt {
    fn drop(&mut self) {
        if self.taken {
            self.close("unknown", Some("interrupted"));
        } else {
            self.close("refused", Some("not_sent"));
        }
    }
}

impl Store {
    /// Records an act that is about to be sent. When this returns, the record is on the disk.
    ///
    /// On an error the act must be refused. A dropped future leaves no open receipt behind.
    pub async fn begin(&self, draft: ReceiptDraft) -> Result<OpenReceipt, StoreError> {
        let mut receipt = self.enqueue_begin(draft).await?;
        receipt.taken = true;
        Ok(receipt)
    }

    /// Acts of processes that ended before they knew the outcome. They are recorded as `unknown`
    /// from now on, and are never sent again. Each is returned to one caller, and again
    /// to a later process only if that caller died before [`Store::acknowledge`].
    pub async fn interrupted(&self) -> Result<Vec<Receipt>, StoreError> {
        self.run(|desk| desk.claim_interrupted(SystemTime::now())).await
    }

    /// Says that interrupted acts were reported to the person or the model.
    pub async fn acknowledge(&self, receipts: &[Receipt]) -> Result<(), StoreError> {
        let ids: Vec<i64> = receipts.iter().map(|receipt| receipt.id.0).collect();
        self.run(move |desk| {
            desk.write(|work| {
                let mut done =
                    work.prepare_cached("UPDATE receipts SET reported = 1 WHERE id = ?1")?;
                ids.iter().try_for_each(|id| done.execute([id]).map(drop))
            })
        })
        .await
    }

    /// The newest receipts, newest first.
    pub async fn receipts(&self, limit: u32) -> Result<Vec<Receipt>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM receipts ORDER BY id DESC LIMIT ?1"
                    ))?
                    .query_map([limit], receipt)?
                    .collect()
            })
        })
        .await
    }
}

/// The columns that [`receipt`] reads, in its order.
pub(crate) const COLUMNS: &str =
    "id, session, turn, step, tool, tab, element, origin, begun_at, ended_at, outcome, code";

pub(crate) fn receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    let outcome: Option<String> = row.get(10)?;
    let ended_at: Option<i64> = row.get(9)?;
    Ok(Receipt {
        id: ReceiptId(row.get(0)?),
        session: SessionId::new(row.get::<_, String>(1)?),
        turn: TurnId(row.get::<_, i64>(2)?.cast_unsigned()),
        step: StepId(row.get(3)?),
        tool: row.get(4)?,
        tab: row.get::<_, Option<String>>(5)?.map(TabId::new),
        element: row.get(6)?,
        origin: row.get(7)?,
        begun_at: time(row.get(8)?),
        end: match outcome {
            Some(outcome) => Some(ReceiptEnd {
                outcome,
                code: row.get(11)?,
                at: time(ended_at.unwrap_or_default()),
            }),
            None => None,
        },
    })
}

pub(crate) fn time(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds.max(0).cast_unsigned())
}

pub(crate) fn insert(
    connection: &Connection,
    owner: &str,
    draft: &ReceiptDraft,
) -> rusqlite::Result<ReceiptId> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO receipts (owner, session, turn, step, tool, tab, element, origin, begun_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    insert
        .insert(params![
            owner,
            draft.session.as_str(),
            draft.turn.0.cast_signed(),
            draft.step.0,
            draft.tool,
            draft.tab.as_ref().map(TabId::as_str),
            draft.element,
            draft.origin.as_ref().map(Origin::to_string),
            milliseconds(draft.at),
        ])
        .map(ReceiptId)
}

pub(crate) fn close(connection: &Connection, finish: &Finish) -> rusqlite::Result<()> {
    // An act that another process took for interrupted stays `unknown`.
    connection
        .prepare_cached(
            "UPDATE receipts SET outcome = ?2, code = ?3, ended_at = ?4
             WHERE id = ?1 AND outcome IS NULL",
        )?
        .execute(params![finish.id.0, finish.outcome, finish.code, milliseconds(finish.at)])
        .map(drop)
}

/// Removes what is older than [`KEPT_FOR`] or beyond the newest [`KEPT_COUNT`]. An act whose end
/// is not known or not reported stays.
pub(crate) fn prune(connection: &Connection, now: SystemTime) -> rusqlite::Result<usize> {
    let oldest = now.checked_sub(KEPT_FOR).map_or(0, milliseconds);
    connection.execute(
        "DELETE FROM receipts WHERE outcome IS NOT NULL AND reported = 1 AND (begun_at < ?1
         OR id <= (SELECT max(id) FROM receipts) - ?2)",
        params![oldest, KEPT_COUNT],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receipts are bounded by count as well; what was not reported stays.
    #[test]
    fn only_the_newest_receipts_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = crate::database::open(&folder.path().join("reins.db")).expect("a file");
        let now = SystemTime::now();
        let more = KEPT_COUNT + 100;
        connection
            .execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                 INSERT INTO receipts (owner, session, turn, step, tool, begun_at, outcome, reported)
                 SELECT 'o', 's', 1, i, 'click', ?2, iif(i = 5, NULL, 'completed'), i <> 6 FROM n",
                params![more, milliseconds(now)],
            )
            .expect("receipts");
        assert_eq!(prune(&connection, now).expect("pruned"), 98);
        let steps: Vec<i64> = connection
            .prepare("SELECT step FROM receipts ORDER BY id LIMIT 3")
            .expect("a query")
            .query_map([], |row| row.get(0))
            .expect("rows")
            .collect::<Result<_, _>>()
            .expect("numbers");
        assert_eq!(steps, [5, 6, 101]);
    }
}
