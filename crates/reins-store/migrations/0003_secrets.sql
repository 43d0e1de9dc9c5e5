-- Secrets that the person keeps for exact origins. Sealed with a key that is not in this file.
CREATE TABLE secrets (
    name   TEXT PRIMARY KEY,
    origin TEXT NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('password', 'code', 'payment', 'text')),
    nonce  BLOB NOT NULL,
    sealed BLOB NOT NULL,
    set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
