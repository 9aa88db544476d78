-- Every look at MT5 for an operation whose end is unknown: the proof behind each decision. And
-- every ticket that arrived too late to be written to its row.

CREATE TABLE deal_look (
    id           bigint GENERATED ALWAYS AS IDENTITY,
    operation_id bigint      NOT NULL,
    attempt      integer     NOT NULL,
    looked_at    timestamptz NOT NULL,
    recorded_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor        text        NOT NULL,
    window_from  bigint,
    window_to    bigint,
    total_stated bigint,
    deals_read   bigint,
    verdict      text        NOT NULL,
    why          text        NOT NULL,
    CONSTRAINT deal_look_pk PRIMARY KEY (id),
    CONSTRAINT deal_look_operation_fk FOREIGN KEY (operation_id) REFERENCES balance_operation (id),
    CONSTRAINT deal_look_verdict_known
        CHECK (verdict IN ('found', 'absent', 'conflict', 'no_answer'))
);

CREATE INDEX deal_look_operation ON deal_look (operation_id, id);

CREATE TRIGGER deal_look_unchanged BEFORE UPDATE OR DELETE ON deal_look
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER deal_look_kept BEFORE TRUNCATE ON deal_look
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE late_evidence (
    id              bigint GENERATED ALWAYS AS IDENTITY,
    operation_id    bigint      NOT NULL,
    attempt         integer     NOT NULL,
    mt5_deal_ticket bigint      NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor           text        NOT NULL,
    CONSTRAINT late_evidence_pk PRIMARY KEY (id),
    CONSTRAINT late_evidence_operation_fk FOREIGN KEY (operation_id)
        REFERENCES balance_operation (id),
    CONSTRAINT late_evidence_once UNIQUE (operation_id, attempt, mt5_deal_ticket)
);

CREATE TRIGGER late_evidence_unchanged BEFORE UPDATE OR DELETE ON late_evidence
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER late_evidence_kept BEFORE TRUNCATE ON late_evidence
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
