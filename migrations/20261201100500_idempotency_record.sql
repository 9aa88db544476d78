-- The first outcome of every write under a caller's key, so that a repeat is answered and not done.

CREATE TABLE idempotency_record (
    caller      text        NOT NULL,
    operation   text        NOT NULL,
    key         text        NOT NULL,
    body_sha256 bytea       NOT NULL,
    status      integer     NOT NULL,
    body        jsonb       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz NOT NULL,
    CONSTRAINT idempotency_record_pk PRIMARY KEY (caller, operation, key),
    CONSTRAINT idempotency_record_digest_length CHECK (length(body_sha256) = 32)
);

CREATE INDEX idempotency_record_expiry ON idempotency_record (expires_at);
