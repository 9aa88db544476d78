//! Signature vectors: the verdict and its reason, line by line.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use claimcheck_providers::{Config, Delivery, Provider, Secrets};
use serde_json::Value;

use crate::fixture::{borrowed, folder_path, headers, lines, secret};

/// The answer to one line, in the words of the fixture.
fn answer(provider: Provider, line: &Value) -> String {
    let secrets = [secret(line["secret"].as_str().expect("is text"))];
    let Ok(secrets) = Secrets::parse(provider, &secrets) else {
        return "reject:unusable_secret".into();
    };
    let body = STANDARD.decode(line["body_base64"].as_str().expect("is text"));
    let body = body.expect("is base64");
    let headers = headers(&line["headers"]);
    let borrowed = borrowed(&headers);
    let now = line["now"].as_i64().expect("is a time");
    let delivery = Delivery::new(&borrowed, &body, now);
    match provider.verify(&delivery, &secrets, Config::TOLERANCE_DEFAULT) {
        Err(rejection) => format!("reject:{}", rejection.reason.code()),
        Ok(_) if provider.readable(&body).is_err() => "reject:malformed_body".into(),
        Ok(_) => "valid".into(),
    }
}

#[test]
fn every_vector_has_its_verdict_and_reason() {
    let mut wrong = Vec::new();
    for provider in Provider::ALL {
        let (mut passed, mut lenient) = (0, Vec::new());
        let lines = lines("vectors", *provider);
        for line in &lines {
            let (expected, got) = (&line["expect"], answer(*provider, line));
            let case = format!(
                "{} {}: {expected}, got {got}",
                provider.name(),
                line["case"]
            );
            if *expected == got.as_str() {
                passed += 1;
            } else if line["lenient_ok"] == true {
                lenient.push(case);
            } else {
                wrong.push(case);
            }
        }
        println!("{:20} {passed} of {}", provider.name(), lines.len());
        println!("  stricter or laxer where both are fine: {lenient:#?}");
        assert!(
            lines.len() >= 20,
            "the vectors of {} are cut",
            provider.name()
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_provider_has_vectors_and_every_file_a_provider() {
    let files = std::fs::read_dir(folder_path("vectors")).expect("is a folder");
    let names = files.map(|file| {
        let path = file.expect("can be listed").path();
        let stem = path.file_stem().expect("has a name").to_str();
        stem.expect("is text").to_owned()
    });
    let known = Provider::ALL.iter().map(|known| known.name().to_owned());
    assert_eq!(
        names.collect::<BTreeSet<_>>(),
        known.collect::<BTreeSet<_>>()
    );
}
