//! Files and folders that nobody else may read: they hold passwords. Nothing in the state folder is
//! made in another way.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::Context;

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Makes a folder, and those above it.
pub(crate) fn dir(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIR_MODE)
        .create(path)
        .with_context(|| format!("the folder {} cannot be made", path.display()))
}

/// Writes a file, whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let beside = path.with_extension("new");
    let written = (|| {
        // One that is left over would keep its own mode.
        let _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(&beside)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&beside, path)
    })();
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// Opens a log for adding to it.
pub(crate) fn log(path: &Path) -> anyhow::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(FILE_MODE)
        .open(path)
        .with_context(|| format!("the log {} cannot be opened", path.display()))
}

/// Removes a folder with all that is in it; one that is not there is as good.
pub(crate) fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("the folder {} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_private_even_where_an_open_one_lay() {
        let folder = std::env::temp_dir().join(format!("lab-private-{}", std::process::id()));
        dir(&folder).expect("the folder is made");
        let path = folder.join("secret");
        fs::write(&path, "old").expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is opened");
        write(&path, "new").expect("it is written");
        let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode();
        assert_eq!(mode(&path) & 0o777, FILE_MODE);
        assert_eq!(mode(&folder) & 0o777, DIR_MODE);
        remove(&folder).expect("it is removed");
        remove(&folder).expect("and a second time nothing is");
    }
}
