//! Secrets: what is refused at start, which one matched, and what never shows.

use claimcheck_providers::{Config, Delivery, Provider, Reason, Secrets, SignFault};

use crate::fixture::{borrowed, good_secret, good_secrets, secret};

const NOW: i64 = 1_796_040_000;

#[test]
fn a_secret_that_protects_nothing_is_refused_with_its_position() {
    for provider in Provider::ALL {
        let fault = Secrets::parse(*provider, &[]).expect_err("is empty");
        assert_eq!(fault.index, 0);
        for bad in ["", "  ", "whsec_", "whsec_ab cd", "whsec_x\n"] {
            let secrets = [good_secret(*provider), secret(bad)];
            let fault = Secrets::parse(*provider, &secrets).expect_err(bad);
            assert_eq!(fault.index, 1, "{bad:?}");
        }
    }
    for bad in ["sk_live_1", "rk_test_1", "pk_1"] {
        assert!(
            Secrets::parse(Provider::Stripe, &[secret(bad)]).is_err(),
            "{bad}"
        );
    }
    for bad in [
        "whsec_????",
        "whsec_AAAA",
        "whpk_2B8FQUvxmJ27aX6HoikpVzqdMSNTnoXh",
    ] {
        let secrets = [secret(bad)];
        assert!(
            Secrets::parse(Provider::StandardWebhooks, &secrets).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn the_secret_that_matched_is_remembered() {
    for provider in Provider::ALL {
        let mine = good_secret(*provider);
        let other = match provider {
            Provider::Stripe => secret("whsec_another_one"),
            Provider::StandardWebhooks => secret("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"),
        };
        let secrets = Secrets::parse(*provider, &[other, mine.clone()]).expect("are usable");
        let headers = provider.sign(&mine, b"{}", NOW, "msg_1").expect("can sign");
        let headers: Vec<(String, Vec<u8>)> = headers
            .into_iter()
            .map(|(name, value)| (name, value.into_bytes()))
            .collect();
        let borrowed = borrowed(&headers);
        let delivery = Delivery::new(&borrowed, b"{}", NOW);
        let verified = provider.verify(&delivery, &secrets, Config::TOLERANCE_DEFAULT);
        assert_eq!(verified.expect("is valid").secret_index, 1);
    }
}

#[test]
fn nothing_of_a_secret_shows() {
    for provider in Provider::ALL {
        let shown = format!("{:?}", good_secrets(*provider));
        assert_eq!(shown, "Secrets([SecretBox<[u8]>([REDACTED])])");
    }
}

#[test]
fn an_id_that_cannot_stand_in_a_header_is_not_signed() {
    for id in ["", "a b", "a\r\nb", "ä"] {
        let provider = Provider::StandardWebhooks;
        let signed = provider.sign(&good_secret(provider), b"{}", NOW, id);
        assert_eq!(signed, Err(SignFault::MessageId), "{id:?}");
    }
}

#[test]
fn a_stripe_header_that_two_readers_would_read_differently_is_refused() {
    let reason = |header: &[u8]| {
        let headers: [(&str, &[u8]); 1] = [("stripe-signature", header)];
        let delivery = Delivery::new(&headers, b"{}", NOW);
        let secrets = good_secrets(Provider::Stripe);
        Provider::Stripe
            .verify(&delivery, &secrets, Config::TOLERANCE_DEFAULT)
            .map_err(|rejection| rejection.reason)
            .expect_err("is not signed")
    };
    assert_eq!(
        reason(b"t=1796040000,t=1796040000,v1=aa"),
        Reason::MalformedSignature
    );
    assert_eq!(
        reason(b"t=1796040000,v1=aa, t=1"),
        Reason::MalformedSignature
    );
    assert_eq!(reason(b"t=NaN,v1=aa"), Reason::MalformedSignature);
    assert_eq!(reason(&b"v1=aa,".repeat(17)), Reason::MalformedSignature);
    assert_eq!(reason(&b"x".repeat(4_097)), Reason::MalformedSignature);
    assert_eq!(reason(b"\xff\xfe"), Reason::MalformedSignature);
    assert_eq!(reason(b"t=1796040000,v1=\xff"), Reason::BadSignature);
    assert_eq!(reason(b"t=1796040000,v1="), Reason::BadSignature);
}

#[test]
fn the_id_of_one_family_cannot_be_put_before_the_signature_of_the_other() {
    let provider = Provider::StandardWebhooks;
    let signed = provider.sign(&good_secret(provider), b"{}", NOW, "msg_1");
    let mut headers: Vec<(String, Vec<u8>)> = signed
        .expect("can sign")
        .into_iter()
        .map(|(name, value)| (name.replace("webhook-", "svix-"), value.into_bytes()))
        .collect();
    let verify = |headers: &[(String, Vec<u8>)]| {
        let borrowed = borrowed(headers);
        let delivery = Delivery::new(&borrowed, b"{}", NOW);
        let verified = provider.verify(
            &delivery,
            &good_secrets(provider),
            Config::TOLERANCE_DEFAULT,
        );
        verified.map_err(|rejection| rejection.reason)
    };
    assert!(verify(&headers).is_ok());
    headers.push(("webhook-id".into(), b"msg_2".to_vec()));
    assert_eq!(verify(&headers), Err(Reason::MissingSignature));
}

#[test]
fn a_body_changed_on_its_way_is_explained() {
    for provider in Provider::ALL {
        let body = br#"{"a":"b c","d":[1,2]}"#;
        let signed = provider.sign(&good_secret(*provider), body, NOW, "msg_1");
        let headers: Vec<(String, Vec<u8>)> = signed
            .expect("can sign")
            .into_iter()
            .map(|(name, value)| (name, value.into_bytes()))
            .collect();
        let borrowed = borrowed(&headers);
        let hint = |body: &[u8]| {
            let delivery = Delivery::new(&borrowed, body, NOW);
            provider.hint(
                &delivery,
                &good_secrets(*provider),
                Config::TOLERANCE_DEFAULT,
            )
        };
        let reserialised = br#"{ "a": "b c", "d": [1, 2] }"#;
        assert!(hint(reserialised).is_some_and(|hint| hint.contains("re-serialised")));
        assert!(hint(&[b"\xef\xbb\xbf", &body[..]].concat()).is_some());
        assert!(hint(&[&body[..], b"\n"].concat()).is_some());
        assert_eq!(hint(br#"{"a":"x"}"#), None);
    }
}
