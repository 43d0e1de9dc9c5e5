-- What the person decided about single sites, one rule for each exact origin.
CREATE TABLE site_rules (
    origin TEXT PRIMARY KEY,
    rule   TEXT NOT NULL CHECK (rule IN ('always', 'never')),
    set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
