-- Model providers that the person set up. A key is sealed like a secret; without a key both are null.
CREATE TABLE providers (
    name     TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    base     TEXT NOT NULL,
    format   TEXT NOT NULL,
    model    TEXT,
    nonce    BLOB,
    sealed   BLOB,
    set_at   INTEGER NOT NULL,
    CHECK ((nonce IS NULL) = (sealed IS NULL))
) STRICT, WITHOUT ROWID;
