-- A process that writes here. It holds a lock on the file of the same name for as long as it
-- lives, so an owner whose lock can be taken is dead.
CREATE TABLE owners (
    id         TEXT PRIMARY KEY,
    pid        INTEGER NOT NULL,
    started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An act that was about to be sent. `outcome` stays NULL until it is known how the act ended.
CREATE TABLE receipts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    owner      TEXT NOT NULL,
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    tool       TEXT NOT NULL,
    tab        TEXT,
    element    TEXT,
    origin     TEXT,
    begun_at   INTEGER NOT NULL,
    ended_at   INTEGER,
    outcome    TEXT CHECK (outcome IN ('completed', 'refused', 'unknown')),
    code       TEXT,
    -- The owner that reports an interrupted act, and whether the person has been told.
    claimed_by TEXT,
    reported   INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX receipts_unfinished ON receipts (owner) WHERE outcome IS NULL OR reported = 0;
