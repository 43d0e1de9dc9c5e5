//! Opening the file and bringing it to the newest format.

use crate::error::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// One embedded SQL file for each format, in order. The format is the file's `user_version`.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_receipts.sql"),
    include_str!("../migrations/0002_site_rules.sql"),
    include_str!("../migrations/0003_secrets.sql"),
    include_str!("../migrations/0004_providers.sql"),
    include_str!("../migrations/0005_site_sends.sql"),
    include_str!("../migrations/0006_conversations.sql"),
    include_str!("../migrations/0007_serving.sql"),
    include_str!("../migrations/0008_sign_ins.sql"),
    include_str!("../migrations/0009_serve_settings.sql"),
];

/// How long a write waits for another process. Writes take milliseconds, so this is plenty, and
/// a click shall not wait for longer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Between two tries of what SQLite refuses at once.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Pages of 4 KiB after which a commit writes the log back itself.
const LOG_PAGES: u32 = 4_000;

/// Opens the database, makes it if it is not there, and migrates it.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    prepare_file(path)?;
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        match open_once(path) {
            // Turning the log on is refused at once while another process does the same: SQLite's own
            // patience does not cover it.
            Err(StoreError::Busy { .. }) if Instant::now() < until => {
                std::thread::sleep(BUSY_PAUSE);
            }
            done => return done,
        }
    }
}

fn open_once(path: &Path) -> Result<Connection, StoreError> {
    let failed = |source| StoreError::database(path, source);
    let mut connection = Connection::open(path).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    migrate(&mut connection, path, MIGRATIONS)?;
    Ok(connection)
}

/// Makes the folder and an empty file that only the owner can read: receipts tell where the
/// person has been. SQLite gives its side files the same mode.
fn prepare_file(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        private_folder(folder).map_err(|source| StoreError::unwritable(folder, source))?;
    }
    match private_file(path) {
        Ok(()) => match folder {
            // The new name must survive a power cut as well.
            Some(folder) => File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(|source| StoreError::unwritable(folder, source)),
            None => Ok(()),
        },
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(StoreError::unwritable(path, source)),
    }
}

/// Makes a folder, and those above it, that only the owner can enter.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes a new file that only the owner can read.
fn private_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // The writer writes the log back when nobody waits; this bounds it if it never gets to.
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    // What the person deletes is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Brings the file to the newest format. Another process may be doing the same, so the format is
/// read again under the write lock.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), StoreError> {
    let failed = |source| StoreError::database(path, source);
    let known = migrations.len() as i64;
    if format(connection).map_err(failed)? == known {
        return Ok(());
    }
    let work =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = format(&work).map_err(failed)?;
    let Some(missing) = usize::try_from(found).ok().and_then(|found| migrations.get(found..))
    else {
        return Err(StoreError::TooNew { path: path.to_owned(), found, known });
    };
    for migration in missing {
        work.execute_batch(migration).map_err(failed)?;
    }
    work.pragma_update(None, "user_version", known).map_err(failed)?;
    work.commit().map_err(failed)
}

fn format(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole schema, as SQLite keeps it.
    fn schema(connection: &Connection) -> Vec<String> {
        connection
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            .expect("a query")
            .query_map([], |row| row.get(0))
            .expect("rows")
            .collect::<Result<_, _>>()
            .expect("texts")
    }

    /// A file of every older format, with something in it, becomes one of today's.
    #[test]
    fn every_older_format_is_migrated_and_keeps_its_content() {
        let fresh = {
            let mut fresh = Connection::open_in_memory().expect("a database");
            migrate(&mut fresh, Path::new("fresh"), MIGRATIONS).expect("migrated");
            schema(&fresh)
        };
        for version in 0..=MIGRATIONS.len() {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("reins.db");
            {
                let mut old = Connection::open(&path).expect("a database");
                migrate(&mut old, &path, &MIGRATIONS[..version]).expect("migrated");
                if version > 0 {
                    old.execute_batch(
                        "INSERT INTO receipts (owner, session, turn, step, tool, begun_at)
                         VALUES ('o', 's', 1, 2, 'click', 3)",
                    )
                    .expect("a receipt");
                }
            }
            let new = open(&path).expect("migrated");
            assert_eq!(schema(&new), fresh, "from {version}");
            let kept: i64 = new
                .query_row("SELECT count(*) FROM receipts WHERE step = 2", [], |row| row.get(0))
                .expect("a count");
            assert_eq!(kept, i64::from(version > 0), "from {version}");
            assert_eq!(format(&new).expect("a format"), MIGRATIONS.len() as i64);
        }
    }

    /// A migration that fails leaves the file as it was.
    #[test]
    fn a_failed_migration_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("reins.db");
        let mut connection = open(&path).expect("a database");
        let before = schema(&connection);
        let mut broken = MIGRATIONS.to_vec();
        broken.push("CREATE TABLE half_done (id INTEGER) STRICT; CREATE TABLE receipts (id);");
        migrate(&mut connection, &path, &broken).expect_err("a broken migration");
        assert_eq!(schema(&connection), before);
        assert_eq!(format(&connection).expect("a format"), MIGRATIONS.len() as i64);
    }

    /// Several processes that start at once with a new file end up with one schema.
    #[test]
    fn a_new_file_can_be_opened_by_many_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("reins.db");
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&path).map(drop))).collect();
            for thread in opened {
                thread.join().expect("a thread").expect("opened");
            }
        });
    }
}
