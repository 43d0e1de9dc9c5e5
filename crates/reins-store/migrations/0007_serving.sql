-- What `reins serve` keeps. Every row has its tenant.

-- An app under test. `status` is booting, ready, failed or expired.
CREATE TABLE sandboxes (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    app_url    TEXT NOT NULL,
    guarded    INTEGER NOT NULL,
    command    TEXT,
    cwd        TEXT,
    ready_url  TEXT,
    status     TEXT NOT NULL,
    error      TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sandboxes_by_tenant ON sandboxes (tenant, created_at);

-- One browser from its start to its end. Outlives its sandbox, since its minutes are owed. `ran_ms` is
-- measured on a clock that nobody can set. `told` is whether the usage hook took it.
CREATE TABLE browser_sessions (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    sandbox    TEXT NOT NULL,
    mode       TEXT NOT NULL,
    status     TEXT NOT NULL,
    recording  TEXT,
    started_at INTEGER NOT NULL,
    stop_at    INTEGER NOT NULL,
    ran_ms     INTEGER NOT NULL,
    ended_at   INTEGER,
    reason     TEXT,
    error      TEXT,
    told       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX browser_sessions_by_sandbox ON browser_sessions (sandbox, started_at);
CREATE INDEX browser_sessions_by_tenant ON browser_sessions (tenant, started_at);

-- Bearer tokens. Only the SHA-256 of a token is kept; tokens are random, so that is enough.
CREATE TABLE serve_tokens (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    hash       BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    UNIQUE (tenant, name)
) STRICT, WITHOUT ROWID;

-- Runs of the agent in a sandbox. `detail` is JSON that only the server reads.
CREATE TABLE serve_runs (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    sandbox    TEXT NOT NULL,
    task       TEXT NOT NULL,
    status     TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    detail     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX serve_runs_by_tenant ON serve_runs (tenant, started_at);
