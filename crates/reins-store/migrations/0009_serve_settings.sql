-- What a tenant of `reins serve` has set for its guarded browsers.
CREATE TABLE serve_settings (
    tenant TEXT PRIMARY KEY,
    level  TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE serve_rules (
    tenant TEXT NOT NULL,
    origin TEXT NOT NULL,
    rule   TEXT NOT NULL,
    PRIMARY KEY (tenant, origin)
) STRICT, WITHOUT ROWID;
