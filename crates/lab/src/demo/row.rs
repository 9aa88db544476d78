//! One row per payment: what came, what it became, and why.

use std::io::Write as _;

/// One ending.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// What was played.
    pub(super) scene: &'static str,
    /// The provider's payment.
    pub(super) payment: String,
    /// The operation it became and where that stands.
    pub(super) operation: String,
    /// The deals in MT5's own ledger.
    pub(super) deals: String,
    /// Why it ended so.
    pub(super) why: String,
    /// Whether it ended as it must.
    pub(super) is_right: bool,
}

const HEADS: [&str; 6] = ["", "scene", "payment", "operation", "deal in MT5", "why"];

fn cells(row: &Row) -> [String; 6] {
    [
        if row.is_right { "ok" } else { "WRONG" }.to_owned(),
        row.scene.to_owned(),
        row.payment.clone(),
        row.operation.clone(),
        row.deals.clone(),
        row.why.clone(),
    ]
}

/// Prints the table, each column as wide as its widest cell.
pub(super) fn print_table(rows: &[Row]) {
    let mut lines = vec![HEADS.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    say("");
    for line in &lines {
        let padded = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        say(padded.collect::<Vec<_>>().join("  ").trim_end());
    }
}

/// Prints what was measured on the way.
pub(super) fn print_notes(notes: &[String]) {
    say("");
    notes.iter().for_each(|note| say(note));
}

/// Prints the last line.
pub(super) fn print_verdict(rows: usize, wrong: usize) {
    match wrong {
        0 => say(&format!("\nall {rows} endings are right")),
        _ => say(&format!("\n{wrong} of {rows} endings are WRONG")),
    }
}

/// Prints a line. A reader that went away is no error of the demo's.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
