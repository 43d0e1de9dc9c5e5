-- A conversation of the agent. What its start and its entries say is JSON that only the
-- agent reads. `owner` is the process that works on it or did last; `version` the program that made it.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    name TEXT UNIQUE,
    task TEXT NOT NULL,
    version TEXT,
    settings TEXT NOT NULL,
    phase TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Entries are only ever appended; `seq` counts from 1 without gaps.
CREATE TABLE journal (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT;
