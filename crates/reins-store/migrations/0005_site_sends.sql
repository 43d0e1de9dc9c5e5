-- Where pages of single origins may send to while an agent acts in them. Sites are divided by spaces.
CREATE TABLE site_sends (
    origin TEXT PRIMARY KEY,
    scope  TEXT NOT NULL CHECK (scope IN ('also', 'only', 'anywhere')),
    sites  TEXT NOT NULL,
    set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
