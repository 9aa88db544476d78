-- What a person must decide. One case is open per kind and subject; what happens again is added to
-- it, never doubled.

CREATE TABLE review_case (
    id                  bigint GENERATED ALWAYS AS IDENTITY,
    kind                text        NOT NULL,
    subject             text        NOT NULL,
    severity            text        NOT NULL,
    state               text        NOT NULL DEFAULT 'open',
    summary             text        NOT NULL,
    detail              jsonb       NOT NULL,
    operation_reference text,
    deposit_id          bigint,
    provider            text,
    provider_payment_id text,
    provider_event_id   bigint,
    seen                integer     NOT NULL DEFAULT 1,
    opened_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    closed_at           timestamptz,
    CONSTRAINT review_case_pk PRIMARY KEY (id),
    CONSTRAINT review_case_severity_known CHECK (severity IN ('normal', 'critical')),
    CONSTRAINT review_case_state_known
        CHECK (state IN ('open', 'assigned', 'waiting', 'closed')),
    CONSTRAINT review_case_closed_has_time CHECK ((state = 'closed') = (closed_at IS NOT NULL))
);

CREATE UNIQUE INDEX review_case_one_open ON review_case (kind, subject) WHERE state <> 'closed';
CREATE INDEX review_case_operation ON review_case (operation_reference);
CREATE INDEX review_case_deposit ON review_case (deposit_id);

CREATE TABLE review_case_event (
    id      bigint GENERATED ALWAYS AS IDENTITY,
    case_id bigint      NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor   text        NOT NULL,
    what    text        NOT NULL,
    detail  jsonb       NOT NULL,
    CONSTRAINT review_case_event_pk PRIMARY KEY (id),
    CONSTRAINT review_case_event_case_fk FOREIGN KEY (case_id) REFERENCES review_case (id)
);

CREATE INDEX review_case_event_case ON review_case_event (case_id, id);

CREATE TRIGGER review_case_event_unchanged BEFORE UPDATE OR DELETE ON review_case_event
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER review_case_event_kept BEFORE TRUNCATE ON review_case_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
