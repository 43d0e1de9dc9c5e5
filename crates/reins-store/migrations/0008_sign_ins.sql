-- Saved sign-ins of apps, one for each tenant and origin. Sealed with a key that is not in this file.
CREATE TABLE sign_ins (
    tenant TEXT NOT NULL,
    origin TEXT NOT NULL,
    nonce  BLOB NOT NULL,
    sealed BLOB NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, origin)
) STRICT, WITHOUT ROWID;
