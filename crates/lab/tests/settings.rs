//! How the user's settings come to lie over the lab's own.

use claimcheck_lab::{lay_over, overlay_from_file};
use toml::Table;

fn table(text: &str) -> Table {
    text.parse().expect("is TOML")
}

fn laid(base: &str, over: &str) -> Table {
    let mut base = table(base);
    lay_over(&mut base, &table(over));
    base
}

#[test]
fn tables_are_merged_and_everything_else_is_replaced() {
    let base = "[times]\nlease = '12s'\nmargin = '1s'\n[endpoints.a]\nsecrets = ['x', 'y']";
    let over = "[times]\nlease = '14s'\n[endpoints.a]\nsecrets = ['z']\n[endpoints.b]\nlive = true";
    let expected = "[times]\nlease = '14s'\nmargin = '1s'\n[endpoints.a]\nsecrets = ['z']\n\
                    [endpoints.b]\nlive = true";
    assert_eq!(laid(base, over), table(expected));
    assert_eq!(laid(base, ""), table(base));
}

#[test]
fn a_secret_is_replaced_whole_in_whatever_form_it_comes() {
    let base = "[portal.main]\ntoken = { file = '/a' }";
    for over in [
        "[portal.main]\ntoken = 'text'",
        "[portal.main]\ntoken = { file = '/b' }",
        "[portal.main]\ntoken_file = '/b'",
    ] {
        assert_eq!(laid(base, over), table(over), "{over}");
    }
}

#[test]
fn a_broken_file_is_named_with_its_line_and_none_of_its_content() {
    let path = std::env::temp_dir().join(format!("lab-overlay-{}.toml", std::process::id()));
    std::fs::write(&path, "[portal.main]\ntoken = 'hidden\n").expect("it is written");
    let error = overlay_from_file(&path)
        .expect_err("it is broken")
        .to_string();
    std::fs::remove_file(&path).expect("it is removed");
    assert!(error.contains("line 2"), "{error}");
    assert!(!error.contains("hidden"), "{error}");
    let missing = overlay_from_file(&path)
        .expect_err("it is gone")
        .to_string();
    assert!(missing.ends_with("cannot be read"), "{missing}");
}
