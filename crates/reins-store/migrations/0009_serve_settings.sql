-- What a tenant of `reins serve` has set for its guarded browsers. `rules` is JSON that only the server reads.
CREATE TABLE serve_settings (
    tenant TEXT PRIMARY KEY,
    level  TEXT,
    rules  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
