//! The known name that a mistyped one was probably meant to be.

/// More changes than this in one word are no slip of the finger.
const CHANGES_MAX: usize = 2;

/// The nearest of the known names, if one is near.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let word = plain(word);
    known
        .into_iter()
        .map(|name| (changes(&word, &plain(name)), name))
        .filter(|(changes, name)| *changes <= CHANGES_MAX && *changes < name.chars().count())
        .min()
        .map(|(_, name)| name)
}

/// The number of letters to insert, delete, replace or exchange with their neighbour.
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
    let mut two_up: Vec<usize> = Vec::new();
    let mut up: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, letter) in from.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = at(&up, column) + usize::from(letter != *other);
            let inserted = at(&current, column) + 1;
            let deleted = at(&up, column + 1) + 1;
            let mut least = replaced.min(inserted).min(deleted);
            let before = column.checked_sub(1).and_then(|column| to.get(column));
            if previous == Some(*other) && before == Some(&letter) {
                least = least.min(at(&two_up, column - 1) + 1);
            }
            current.push(least);
        }
        two_up = std::mem::replace(&mut up, current);
        previous = Some(letter);
    }
    at(&up, to.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["database", "queue", "mt5", "credit-worker", "resolver"];
        let table = [
            ("databse", Some("database")),
            ("dtaabase", Some("database")),
            ("Database", Some("database")),
            ("credit_worker", Some("credit-worker")),
            ("qeueu", Some("queue")),
            ("mt4", Some("mt5")),
            ("x", None),
            ("reconciler", None),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn changes_are_counted_as_a_hand_makes_them() {
        let table = [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("ab", "ba", 1),
            ("abc", "axc", 1),
        ];
        for (from, to, expected) in table {
            assert_eq!(changes(from, to), expected, "{from} to {to}");
        }
    }
}
