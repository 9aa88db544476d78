//! The database by itself: what it refuses whoever asks, its owner included, and what holds when
//! many ask at once. What is written here may not depend on any service being right.

use std::fmt::Write as _;
use std::time::Duration;

use claimcheck_core::{
    CurrencyCode, DealTicket, EndpointName, EventFact, EventKey, FactKind, Look, MOVES,
    MerchantReference, Outcome, PaymentId, ProviderName, Refusal, Resolution, ServerName, Tag,
};
use claimcheck_lab::{Infra, until};
use claimcheck_store::{
    Claim, LookRecord, Recorded, Settled, Store, StoreSettings, VerifiedMessage,
};
use claimcheck_tests::town::{LIMIT, demand};
use futures_util::future::join_all;
use rust_decimal::Decimal;

/// A lease that outlasts any test.
const LONG: Duration = Duration::from_mins(10);
/// What a worker of these tests is called.
const WORKER: &str = "worker-1";

/// Makes operations, and moves them as a careless program would: only the guards say no.
const CARELESS: &str = "
    CREATE SEQUENCE careless;
    INSERT INTO trading_account (server, login, client_id, currency)
        VALUES ('live-1', 1, 'c', 'USD'), ('live-1', 2, 'c', 'USD');
    CREATE FUNCTION go(operation bigint, by text, wanted text) RETURNS void LANGUAGE sql AS $$
        UPDATE balance_operation
        SET attempts = attempts + (status = 'pending' AND wanted = 'claimed')::integer,
            status = wanted, move = by, moved_by = 'careless', moved_because = 'asked',
            claimed_at = clock_timestamp(),
            first_claimed_at = COALESCE(first_claimed_at, clock_timestamp()),
            lease_expires_at = clock_timestamp() + interval '1 minute',
            unknown_since = clock_timestamp(), next_look_at = clock_timestamp(),
            refusal = CASE wanted WHEN 'failed' THEN 'no' END,
            mt5_deal_ticket = CASE WHEN wanted = 'done' OR status = 'done' THEN 7000 + id END
        WHERE id = operation
    $$;
    CREATE FUNCTION made(wanted text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE operation bigint; number bigint := nextval('careless'); own bigint;
    BEGIN
        INSERT INTO deposit (client_id, server, mt5_login, amount_minor, currency, provider,
            reference_for_provider)
        VALUES ('c', 'live-1', 1, 100, 'USD', 'stripe', 'dep-' || number || '-bbbbb')
        RETURNING id INTO own;
        INSERT INTO balance_operation (kind, server, mt5_login, amount_minor, currency, provider,
            provider_payment_id, reference, deposit_id, status, move, moved_by, moved_because)
        VALUES ('dep', 'live-1', 1, 100, 'USD', 'stripe', 'pi_' || number,
            'dep:' || number || '-bbbbb', own,
            CASE wanted WHEN 'held' THEN 'held' ELSE 'pending' END, 'accept', 'careless', 'made')
        RETURNING id INTO operation;
        IF wanted IN ('held', 'pending') THEN RETURN operation; END IF;
        PERFORM go(operation, 'claim', 'claimed');
        IF wanted = 'claimed' THEN RETURN operation; END IF;
        PERFORM go(operation, CASE wanted WHEN 'unknown' THEN 'lose_track'
            WHEN 'done' THEN 'succeed' ELSE 'refuse' END, wanted);
        RETURN operation;
    END $$;
    CREATE FUNCTION must_refuse(statement text, state text) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE was text := 'taken';
    BEGIN
        BEGIN EXECUTE statement; EXCEPTION WHEN OTHERS THEN was := SQLSTATE; END;
        IF was <> state THEN RAISE EXCEPTION '% was %, not %', statement, was, state; END IF;
    END $$;
";

/// A migrated database of its own.
struct Books {
    infra: Infra,
    name: &'static str,
    store: Store,
}

impl Books {
    async fn open(name: &'static str) -> Self {
        let infra = Infra::attach_from_environment().expect("run through `make test`");
        infra.create_database(name).await.expect("is created");
        let store = store(&infra, name);
        store.migrate().await.expect("is migrated");
        Self { infra, name, store }
    }

    async fn run(&self, statement: &str) {
        let done = self.infra.sql(self.name, statement).await;
        done.expect("the database says yes");
    }

    async fn demand(&self, condition: &str) {
        demand(&self.infra, self.name, condition).await;
    }

    async fn claim(&self, lease: Duration) -> Option<Claim> {
        let claim = self.store.claim(&server(), lease, WORKER).await;
        claim.expect("the database answers")
    }

    async fn settle(&self, claim: &Claim, outcome: &Outcome) -> Settled {
        let operation = &claim.operation;
        let settled = self
            .store
            .settle(operation, outcome, Duration::ZERO, WORKER)
            .await;
        settled.expect("the database answers")
    }

    async fn close(self) {
        self.store.close().await;
        self.infra.drop_database(self.name).await.expect("is gone");
    }
}

fn store(infra: &Infra, name: &str) -> Store {
    Store::connect(&StoreSettings {
        url: infra.database_url(name).into(),
        connections: 12,
        application: "books".to_owned(),
    })
    .expect("the URL is one")
}

fn server() -> ServerName {
    ServerName::parse("live-1").expect("is a name")
}

fn ticket(number: i64) -> DealTicket {
    DealTicket::new(number).expect("is a ticket")
}

/// The domain's table as rows of SQL.
fn moves_of_the_domain() -> String {
    let mut rows = String::new();
    for (from, by, to) in MOVES {
        let comma = if rows.is_empty() { "" } else { ", " };
        let (from, by, to) = (from.code(), by.code(), to.code());
        write!(rows, "{comma}('{from}', '{by}', '{to}')").expect("a text takes everything");
    }
    rows
}

#[tokio::test]
async fn the_database_takes_the_moves_of_the_domain_and_no_other() {
    let books = Books::open("books_moves").await;
    books.run(CARELESS).await;
    let domain = format!("(VALUES {})", moves_of_the_domain());
    for (some, others) in [
        (domain.as_str(), "(TABLE legal)"),
        ("(TABLE legal)", domain.as_str()),
    ] {
        let both = format!(
            "NOT EXISTS (WITH legal AS (SELECT * FROM balance_operation_moves())
                 SELECT * FROM {some} AS a EXCEPT SELECT * FROM {others} AS b)"
        );
        books.demand(&both).await;
    }
    let every = format!(
        "DO $every$
         DECLARE a text; b text; c text; operation bigint; is_legal boolean; rows bigint;
         states text[] := '{{held,pending,claimed,unknown,done,failed}}';
         moves text[] := '{{accept,release,claim,block,succeed,refuse,not_sent,lose_track,expire,
             find,prove_absent,exhaust,invented}}';
         BEGIN
         FOREACH a IN ARRAY states LOOP FOREACH b IN ARRAY moves LOOP FOREACH c IN ARRAY states LOOP
             CONTINUE WHEN a = c;
             operation := made(a);
             is_legal := (a, b, c) IN ({});
             SELECT count(*) INTO rows FROM balance_operation_history AS h
                 WHERE h.operation_id = operation;
             BEGIN
                 PERFORM go(operation, b, c);
                 IF NOT is_legal THEN RAISE EXCEPTION '% went by % to %', a, b, c; END IF;
                 IF (SELECT count(*) FROM balance_operation_history AS h
                     WHERE h.operation_id = operation) <> rows + 1 OR NOT EXISTS (
                     SELECT FROM balance_operation_history AS h JOIN balance_operation AS o
                         ON o.id = h.operation_id AND o.attempts = h.attempt
                     WHERE h.operation_id = operation AND h.actor = 'careless'
                         AND h.because = 'asked'
                         AND (h.status_before, h.move, h.status_after) = (a, b, c))
                 THEN RAISE EXCEPTION '% by % to % has no history', a, b, c; END IF;
             EXCEPTION WHEN SQLSTATE 'CC001' THEN
                 IF is_legal THEN RAISE EXCEPTION '% cannot go by % to %', a, b, c; END IF;
             END;
         END LOOP; END LOOP; END LOOP;
         END $every$",
        moves_of_the_domain()
    );
    books.run(&every).await;
    books.close().await;
}

/// Statements that must be refused, each with the SQLSTATE it must be refused with; `{}` stands
/// for the id of an operation that is done.
const NEVER: &[(&str, &str)] = &[
    (
        "UPDATE balance_operation SET mt5_login = 2 WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET server = 'live-2' WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET amount_minor = 101 WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET currency = 'EUR' WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET reference = 'dep:9-bbbbb' WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET kind = 'ref' WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET provider = 'other' WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET provider_payment_id = 'pi_x' WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET mt5_deal_ticket = 1 WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET mt5_deal_ticket = NULL WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET first_claimed_at = now() WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET created_at = now() WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET attempts = attempts + 1 WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET attempts = attempts - 1 WHERE id = {}",
        "CC001",
    ),
    ("DELETE FROM balance_operation WHERE id = {}", "CC001"),
    (
        "UPDATE balance_operation SET not_before = now() WHERE id = {}",
        "CC001",
    ),
    (
        "UPDATE balance_operation SET lease_expires_at = now() WHERE id = {}",
        "CC001",
    ),
    ("TRUNCATE deposit CASCADE", "CC002"),
    ("TRUNCATE review_case CASCADE", "CC002"),
    ("TRUNCATE late_evidence", "CC002"),
    ("TRUNCATE deal_look", "CC002"),
    ("TRUNCATE provider_event", "CC002"),
    ("TRUNCATE balance_operation CASCADE", "CC002"),
    (
        "UPDATE balance_operation_history SET because = 'x' WHERE operation_id = {}",
        "CC002",
    ),
    (
        "DELETE FROM balance_operation_history WHERE operation_id = {}",
        "CC002",
    ),
    ("TRUNCATE balance_operation_history", "CC002"),
    ("UPDATE review_case_event SET what = 'x'", "CC002"),
    ("DELETE FROM review_case_event", "CC002"),
    ("TRUNCATE review_case_event", "CC002"),
    ("UPDATE late_evidence SET mt5_deal_ticket = 2", "CC002"),
    ("DELETE FROM late_evidence", "CC002"),
    ("UPDATE deal_look SET verdict = 'absent'", "CC002"),
    ("DELETE FROM deal_look", "CC002"),
    ("UPDATE provider_event SET kind = 'x'", "CC002"),
    ("UPDATE deposit SET amount_minor = 2", "CC001"),
    ("UPDATE deposit SET mt5_login = 2", "CC001"),
    ("UPDATE deposit SET provider_payment_id = 'pi_b'", "CC001"),
    ("DELETE FROM deposit", "CC001"),
];

#[tokio::test]
async fn what_is_on_record_never_changes_and_never_goes_even_for_the_owner() {
    let books = Books::open("books_never").await;
    books.run(CARELESS).await;
    let mut block = String::from(
        "DO $never$ DECLARE operation bigint := made('done'); closed bigint;
         BEGIN
         INSERT INTO review_case (kind, subject, severity, summary, detail)
             VALUES ('k', 's', 'normal', 's', '{}') RETURNING id INTO closed;
         INSERT INTO review_case_event (case_id, actor, what, detail)
             VALUES (closed, 'a', 'opened', '{}');
         INSERT INTO late_evidence (operation_id, attempt, mt5_deal_ticket, actor)
             VALUES (operation, 1, 1, 'a');
         INSERT INTO deal_look (operation_id, attempt, looked_at, actor, verdict, why)
             VALUES (operation, 1, now(), 'a', 'found', 'w');
         INSERT INTO provider_event (endpoint, event_key, provider, kind, body, body_sha256,
             secret_index) VALUES ('e', 'k', 'stripe', 'paid', '', sha256(''), 0);
         INSERT INTO deposit (client_id, server, mt5_login, amount_minor, currency, provider,
             reference_for_provider, provider_payment_id)
             VALUES ('c', 'live-1', 1, 1, 'USD', 'stripe', 'r', 'pi_a');\n",
    );
    for (statement, state) in NEVER {
        writeln!(
            block,
            "PERFORM must_refuse(replace($s${statement}$s$, '{{}}', operation::text), '{state}');"
        )
        .expect("a text takes everything");
    }
    block.push_str("END $never$");
    books.run(&block).await;
    books.close().await;
}

/// The statement that makes a refund's operation, which needs no deposit, of these columns.
fn insert(columns: &str) -> String {
    format!(
        "INSERT INTO balance_operation (kind, server, mt5_login, amount_minor, currency,
             provider, provider_payment_id, reference, status, move, moved_by, moved_because,
             attempts) VALUES ('ref', 'live-1', 1, 100, 'USD', 'stripe', {columns})"
    )
}

/// Statements that break one rule each, with the SQLSTATE that refuses them. What stands in
/// `made(…)` is made before the statement runs, which would not see it otherwise.
fn offences() -> Vec<(String, &'static str)> {
    let (unique, check, guard) = ("23505", "23514", "CC001");
    let rest = "'pending', 'accept', 'a', 'b', 0";
    let claim = "UPDATE balance_operation SET status = 'claimed', move = 'claim',
         claimed_at = now(), first_claimed_at = now(), lease_expires_at = now()";
    let done = "UPDATE balance_operation SET status = 'done', move = 'succeed'";
    let second_case = "INSERT INTO review_case (kind, subject, severity, summary, detail)
         SELECT 'k', 's', 'normal', 's', '{}' FROM generate_series(1, 2)";
    vec![
        (insert(&format!("'pi_one', 'ref:2-ccccc', {rest}")), unique),
        (insert(&format!("'pi_two', 'ref:1-ccccc', {rest}")), unique),
        (
            insert("'pi_3', 'ref:3-ccccc', 'claimed', 'accept', 'a', 'b', 0"),
            guard,
        ),
        (
            insert("'pi_3', 'ref:3-ccccc', 'done', 'accept', 'a', 'b', 0"),
            guard,
        ),
        (
            insert("'pi_3', 'ref:3-ccccc', 'pending', 'release', 'a', 'b', 0"),
            guard,
        ),
        (
            insert("'pi_3', 'ref:3-ccccc', 'pending', 'accept', 'a', 'b', 1"),
            guard,
        ),
        (
            insert(&format!("'pi_3', 'ref:3-{}', {rest}", "c".repeat(31))),
            check,
        ),
        (insert(&format!("NULL, 'ref:3-ccccc', {rest}")), check),
        (
            insert(&format!("'pi_3', 'dep:3-ccccc', {rest}")).replace("('ref'", "('dep'"),
            check,
        ),
        (format!("{claim} WHERE id = made('pending')"), guard),
        (
            format!("{claim}, attempts = attempts + 2 WHERE id = made('pending')"),
            guard,
        ),
        (format!("{done} WHERE id = made('claimed')"), check),
        (
            format!("{done}, attempts = attempts + 1 WHERE id = made('claimed')"),
            guard,
        ),
        (second_case.to_owned(), unique),
    ]
}

#[tokio::test]
async fn attempts_uniqueness_and_first_states_are_rules_of_the_schema() {
    let books = Books::open("books_rules").await;
    books.run(CARELESS).await;
    let first = insert("'pi_one', 'ref:1-ccccc', 'pending', 'accept', 'a', 'b', 0");
    books.run(&first).await;
    for (statement, state) in offences() {
        let (statement, made) = match statement.split_once("made(") {
            Some((before, state)) => (
                format!("{before}{{}}"),
                format!("made({}", state.trim_end()),
            ),
            None => (statement, "0".to_owned()),
        };
        let block = format!(
            "DO $$ DECLARE operation bigint := {made}; BEGIN
             PERFORM must_refuse(replace($s${statement}$s$, '{{}}', operation::text), '{state}');
             END $$"
        );
        books.run(&block).await;
    }
    let same_deposit = "DO $$ DECLARE a bigint := made('pending'); BEGIN
         PERFORM must_refuse(format('INSERT INTO balance_operation (kind, server, mt5_login,
             amount_minor, currency, provider, provider_payment_id, reference, deposit_id, status,
             move, moved_by, moved_because) SELECT kind, server, mt5_login, amount_minor, currency,
             provider, ''pi_second'', ''dep:9-ddddd'', deposit_id, status, move, moved_by,
             moved_because FROM balance_operation WHERE id = %s', a), '23505');
         END $$";
    books.run(same_deposit).await;
    let same_ticket = "DO $$ DECLARE a bigint := made('done'); b bigint := made('claimed'); BEGIN
         PERFORM must_refuse(format('UPDATE balance_operation SET status = ''done'',
             move = ''succeed'', mt5_deal_ticket = %s WHERE id = %s', 7000 + a, b), '23505');
         END $$";
    books.run(same_ticket).await;
    books
        .run(
            "INSERT INTO review_case (kind, subject, severity, summary, detail, state, closed_at)
             SELECT 'k', 's', 'normal', 's', '{}', 'closed', now() FROM generate_series(1, 2)",
        )
        .await;
    books.close().await;
}

/// A deposit and the account it is for, and a statement that it is paid.
const DEPOSIT: &str = "
    INSERT INTO trading_account (server, login, client_id, currency)
        VALUES ('live-1', 1, 'c', 'USD');
    INSERT INTO deposit (client_id, server, mt5_login, amount_minor, currency, provider,
        reference_for_provider) VALUES ('c', 'live-1', 1, 5000, 'USD', 'stripe', 'dep-1-bbbbb')";

fn paid(event: &str, payment: &str) -> EventFact {
    let key = EventKey::parse(event).expect("is a key");
    let mut fact = EventFact::new(FactKind::Paid, key);
    fact.payment = Some(PaymentId::parse(payment).expect("is an id"));
    fact.reference = Some(MerchantReference::parse("dep-1-bbbbb").expect("is a reference"));
    fact.amount = Some(Decimal::new(5_000, 2));
    fact.currency = CurrencyCode::parse("USD");
    fact
}

async fn record(store: &Store, fact: EventFact) -> Recorded {
    let endpoint = EndpointName::parse("stripe").expect("is a name");
    let provider = ProviderName::parse("stripe").expect("is a name");
    let facts = [fact];
    let message = VerifiedMessage {
        endpoint: &endpoint,
        provider: &provider,
        body: b"{}",
        secret_index: 0,
        facts: Ok(&facts),
        trace_parent: None,
        tag: &|| Tag::from_random(7),
    };
    let recorded = store.record_message(&message).await;
    recorded.expect("every delivery is taken")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_payment_is_one_operation_however_often_and_under_however_many_keys_it_is_told() {
    let books = Books::open("books_told").await;
    books.run(DEPOSIT).await;
    let same = (0..20).map(|_| record(&books.store, paid("evt_same", "pi_1")));
    let same = join_all(same).await;
    assert_eq!(
        same.iter().map(|one| one.events).sum::<usize>(),
        1,
        "one is new"
    );
    assert_eq!(same.iter().map(|one| one.pending.len()).sum::<usize>(), 1);
    books
        .demand("(SELECT count(*) FROM provider_event) = 1")
        .await;
    books
        .run(
            "INSERT INTO deposit (client_id, server, mt5_login, amount_minor, currency,
        provider, reference_for_provider)
        VALUES ('c', 'live-1', 1, 5000, 'USD', 'stripe', 'dep-2-bbbbb')",
        )
        .await;
    let keys: Vec<String> = (0..20).map(|number| format!("evt_{number}")).collect();
    let two = keys.iter().map(|key| {
        let mut fact = paid(key, "pi_2");
        fact.reference = MerchantReference::parse("dep-2-bbbbb").ok();
        record(&books.store, fact)
    });
    let two = join_all(two).await;
    assert_eq!(
        two.iter().map(|one| one.events).sum::<usize>(),
        20,
        "each is kept"
    );
    assert_eq!(two.iter().map(|one| one.pending.len()).sum::<usize>(), 1);
    books
        .demand("(SELECT count(*) FROM balance_operation) = 2")
        .await;
    books.demand("NOT EXISTS (SELECT FROM review_case)").await;
    // A second payment for a deposit that has one is held, and a person is told.
    let other = record(&books.store, paid("evt_other", "pi_other")).await;
    assert_eq!((other.events, other.pending.len(), other.cases), (1, 0, 1));
    books
        .demand("(SELECT count(*) FROM balance_operation WHERE status = 'held') = 1")
        .await;
    books.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_32_claims_of_one_operation_exactly_one_succeeds() {
    let books = Books::open("books_claims").await;
    books.run(CARELESS).await;
    for round in 1..=5 {
        books.run("SELECT made('pending')").await;
        let claims = join_all((0..32).map(|_| books.claim(LONG))).await;
        assert_eq!(claims.iter().flatten().count(), 1, "round {round}");
    }
    books
        .run("SELECT made('pending') FROM generate_series(1, 20)")
        .await;
    let claims = join_all((0..32).map(|_| books.claim(LONG))).await;
    let mut ids: Vec<i64> = claims
        .iter()
        .flatten()
        .map(|one| one.operation.id)
        .collect();
    let claimed = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(
        (claimed, ids.len()),
        (20, 20),
        "each by one worker, and none left out"
    );
    books
        .demand("NOT EXISTS (SELECT FROM balance_operation WHERE attempts <> 1)")
        .await;
    books.close().await;
}

async fn prove_absent(books: &Books, claim: &Claim) -> Settled {
    let record = LookRecord {
        look: &Look::Absent,
        reading: None,
        looked_at: books.store.now().await.expect("it answers"),
        actor: "resolver",
    };
    let resolved = books
        .store
        .resolve(&claim.operation, &record, &Resolution::ProvedAbsent)
        .await;
    resolved.expect("the database answers")
}

#[tokio::test]
async fn an_old_attempt_changes_nothing_but_its_ticket_is_never_lost() {
    let books = Books::open("books_late").await;
    books.run(CARELESS).await;
    books.run("SELECT made('pending')").await;
    let unknown = Outcome::Unknown("no answer".to_owned());
    let refused = Outcome::Refused(Refusal {
        code: "mt5_10019".to_owned(),
        meaning: "not enough money".to_owned(),
    });
    let not_sent = Outcome::NotSent("no session".to_owned());
    let first = books.claim(LONG).await.expect("it is pending");
    assert_eq!(books.settle(&first, &unknown).await, Settled::Written);
    assert_eq!(prove_absent(&books, &first).await, Settled::Written);
    let row = "FROM balance_operation AS o WHERE o.status";
    let second = books.claim(LONG).await.expect("it is pending again");
    assert_eq!(second.operation.attempts, 2);
    for outcome in [&unknown, &refused, &not_sent] {
        assert_eq!(books.settle(&first, outcome).await, Settled::Stale);
    }
    books
        .demand(&format!(
            "EXISTS (SELECT {row} = 'claimed' AND attempts = 2)"
        ))
        .await;
    assert_eq!(books.settle(&second, &not_sent).await, Settled::Written);
    assert_eq!(prove_absent(&books, &first).await, Settled::Stale);

    let done = Outcome::Done(ticket(41));
    for seen in 1..=2 {
        assert_eq!(books.settle(&first, &done).await, Settled::Evidence);
        books
            .demand(&format!(
                "EXISTS (SELECT {row} = 'held' AND mt5_deal_ticket IS NULL)"
            ))
            .await;
        books
            .demand(&format!(
                "EXISTS (SELECT FROM review_case WHERE kind = 'late_evidence'
                     AND seen = {seen} AND severity = 'critical')"
            ))
            .await;
    }
    books
        .demand(
            "(SELECT array_agg((attempt, mt5_deal_ticket)::text) FROM late_evidence)
        = ARRAY['(1,41)']",
        )
        .await;
    assert!(
        books.claim(LONG).await.is_none(),
        "a held operation is not claimed"
    );
    books.close().await;
}

#[tokio::test]
async fn a_lease_that_ran_out_leads_to_unknown_and_never_back_to_pending() {
    let books = Books::open("books_lease").await;
    books.run(CARELESS).await;
    books.run("SELECT made('pending')").await;
    let claim = books
        .claim(Duration::from_millis(1))
        .await
        .expect("pending");
    until("the lease is over", LIMIT, async || {
        let now = books.store.now().await.expect("it answers");
        now > claim.claimed_at + Duration::from_millis(2)
    })
    .await
    .expect("time passes");
    let not_sent = Outcome::NotSent("no session".to_owned());
    assert_eq!(books.settle(&claim, &not_sent).await, Settled::Stale);
    assert!(books.claim(LONG).await.is_none(), "nobody else takes it");
    let expired = books.store.expire_leases(10, "resolver").await;
    assert_eq!(expired.expect("it answers"), 1);
    books
        .demand("EXISTS (SELECT FROM balance_operation WHERE status = 'unknown')")
        .await;
    assert_eq!(books.settle(&claim, &not_sent).await, Settled::Stale);
    assert!(
        books.claim(LONG).await.is_none(),
        "unknown is the resolver's alone"
    );
    let look = books.store.take_due_look(&server(), 5, LONG).await;
    let look = look.expect("it answers").expect("it is due");
    assert_eq!(look.operation.id, claim.operation.id);
    let again = books.store.take_due_look(&server(), 5, LONG).await;
    assert!(
        again.expect("it answers").is_none(),
        "one resolver at a time"
    );
    // The late answer of the same attempt is the truth all the same.
    let done = Outcome::Done(ticket(51));
    assert_eq!(books.settle(&claim, &done).await, Settled::Written);
    assert_eq!(books.settle(&claim, &done).await, Settled::Same);
    books
        .demand("(SELECT mt5_deal_ticket FROM balance_operation) = 51")
        .await;
    // A ticket that stands on one row never comes to stand on another.
    books.run("SELECT made('pending')").await;
    let other = books.claim(LONG).await.expect("pending");
    assert_eq!(books.settle(&other, &done).await, Settled::Written);
    books
        .demand("EXISTS (SELECT FROM balance_operation WHERE status = 'unknown')")
        .await;
    books
        .demand("EXISTS (SELECT FROM review_case WHERE kind = 'look_conflict')")
        .await;
    books.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_may_run_again_and_by_five_at_once() {
    let infra = Infra::attach_from_environment().expect("run through `make test`");
    let name = "books_migrated";
    infra.create_database(name).await.expect("is created");
    let empty = store(&infra, name);
    assert!(empty.check().await.is_err(), "nothing is there yet");
    let stores: Vec<Store> = (0..5).map(|_| store(&infra, name)).collect();
    for outcome in join_all(stores.iter().map(Store::migrate)).await {
        outcome.expect("each of five brings it up to date, or finds it so");
    }
    empty.migrate().await.expect("again changes nothing");
    empty.check().await.expect("the schema is the one known");
    demand(
        &infra,
        name,
        "NOT EXISTS (SELECT FROM _sqlx_migrations WHERE NOT success)",
    )
    .await;
    join_all(stores.iter().chain([&empty]).map(Store::close)).await;
    infra.drop_database(name).await.expect("is gone");
}

#[tokio::test]
async fn a_database_that_is_away_is_a_passing_trouble_of_every_function() {
    let shared = Infra::attach_from_environment().expect("run through `make test`");
    let own = Infra::start(&shared.dir().join("own-books"), None).await;
    let own = own.expect("an infrastructure of its own");
    let name = "books_away";
    own.create_database(name).await.expect("is created");
    let store = store(&own, name);
    store.migrate().await.expect("is migrated");
    store.check().await.expect("it answers");
    own.stop_postgres().await.expect("is stopped");
    let endpoint = EndpointName::parse("stripe").expect("is a name");
    let provider = ProviderName::parse("stripe").expect("is a name");
    let message = VerifiedMessage {
        endpoint: &endpoint,
        provider: &provider,
        body: b"{}",
        secret_index: 0,
        facts: Ok(&[]),
        trace_parent: None,
        tag: &|| Tag::from_random(7),
    };
    // All at once: each waits as long as a connection may take.
    let server = server();
    let (check, now, claim, expire, record, deposit, looks) = tokio::join!(
        store.check(),
        store.now(),
        store.claim(&server, LONG, WORKER),
        store.expire_leases(1, WORKER),
        store.record_message(&message),
        store.deposit(1),
        store.take_due_look(&server, 1, LONG),
    );
    let errors = [
        check.err(),
        now.err(),
        claim.err(),
        expire.err(),
        record.err(),
        deposit.err(),
        looks.err(),
    ];
    for error in errors {
        let error = error.expect("nothing is answered");
        assert!(error.is_passing(), "{error:?}");
    }
    own.start_postgres().await.expect("is started");
    until("the store answers again", LIMIT, async || {
        store.check().await.is_ok()
    })
    .await
    .expect("without being told");
    own.stop().await.expect("the infrastructure stops");
}
