//! Where the key lives that seals secrets: in a file of its own beside the database, readable by the
//! owner only, or in the keyring of the system.
//!
//! A file beside the database says that it is in the keyring, and under which name. Without it a program
//! that cannot reach the keyring would make a new key, and what was sealed would be lost.

use crate::error::StoreError;
use crate::writer::{Desk, Store};
use keyring_core::{CredentialStore, Entry};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// The key's service in a keyring.
const SERVICE: &str = "reins";

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// The longest name of a key in a keyring, as this program makes them.
const ACCOUNT_BYTES: u64 = 64;

pub(crate) type KeyBytes = Zeroizing<[u8; KEY_BYTES]>;

/// Where the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// Nothing was sealed so far, so there is none. The first one goes into a file.
    Nowhere,
    /// In a file beside the database.
    File,
    /// In the keyring of the system.
    Keyring,
}

/// A keyring: that of the system, or another one in its place.
#[derive(Clone)]
pub struct Keyring(Arc<CredentialStore>);

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring")
    }
}

impl Keyring {
    /// This one, whatever it is.
    pub fn of(store: Arc<CredentialStore>) -> Self {
        Self(store)
    }

    /// The system's own: Keychain on macOS, the Secret Service on Linux.
    ///
    /// # Errors
    ///
    /// [`StoreError::Keyring`] if this build has none, or there is none here: containers and SSH
    /// sessions rarely have one.
    pub fn system() -> Result<Self, StoreError> {
        system()
    }

    /// Whether this build can reach the system's keyring at all.
    pub fn is_built_in() -> bool {
        cfg!(feature = "os-keyring")
    }

    fn entry(&self, account: &str) -> Result<Entry, StoreError> {
        Entry::new_in_store(&self.0, SERVICE, account).map_err(|error| failed(&error))
    }

    fn get(&self, account: &str) -> Result<KeyBytes, StoreError> {
        let mut bytes = self.entry(account)?.get_secret().map_err(|error| failed(&error))?;
        let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice());
        bytes.zeroize();
        key.map(Zeroizing::new).map_err(|_| no_keyring("what it holds under our name is no key"))
    }

    fn set(&self, account: &str, key: &KeyBytes) -> Result<(), StoreError> {
        self.entry(account)?.set_secret(key.as_ref()).map_err(|error| failed(&error))?;
        // What a keyring took and does not give again would be lost for good.
        match self.get(account)? == *key {
            true => Ok(()),
            false => Err(no_keyring("it gave back something else than it was given")),
        }
    }
}

#[cfg(feature = "os-keyring")]
fn system() -> Result<Keyring, StoreError> {
    if let Err(error) = keyring::v1::Entry::store_status() {
        return Err(failed(error));
    }
    let store = keyring_core::get_default_store();
    store.map(Keyring).ok_or_else(|| no_keyring("there is none here"))
}

#[cfg(not(feature = "os-keyring"))]
fn system() -> Result<Keyring, StoreError> {
    Err(no_keyring("this build of Reins was made without `os-keyring`"))
}

fn no_keyring(reason: impl Into<String>) -> StoreError {
    StoreError::Keyring { reason: reason.into() }
}

/// Some errors of keyrings carry the secret itself, so only words of them are passed on.
fn failed(error: &keyring_core::Error) -> StoreError {
    use keyring_core::Error;
    no_keyring(match error {
        Error::PlatformFailure(error) => format!("the system says: {error}"),
        Error::NoStorageAccess(error) => format!("it is locked, or may not be read: {error}"),
        Error::NoEntry => "it holds no key under our name".to_owned(),
        Error::NoDefaultStore => "there is none here".to_owned(),
        Error::TooLong(what, most) => format!("it takes at most {most} bytes as {what}"),
        Error::NotSupportedByStore(what) => format!("it cannot do that: {what}"),
        _ => "it gave back something that cannot be used".to_owned(),
    })
}

/// The key's file, beside the database.
fn file(database: &Path) -> PathBuf {
    database.with_extension("key")
}

/// The file that says that the key is in the keyring, and under which name.
fn sign(database: &Path) -> PathBuf {
    database.with_extension("key-in-keyring")
}

/// Where the key of a database is, without opening anything.
pub fn key_place(database: &Path) -> KeyPlace {
    match (file(database).exists(), sign(database).exists()) {
        // While it moves it is in both; the file is what is read.
        (true, _) => KeyPlace::File,
        (false, true) => KeyPlace::Keyring,
        (false, false) => KeyPlace::Nowhere,
    }
}

impl Store {
    /// The same with another keyring than the system's.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_with_keyring(
        path: impl Into<PathBuf>,
        keyring: Keyring,
    ) -> Result<Self, StoreError> {
        Self::start(path.into(), Some(keyring))
    }

    /// Moves the key into the keyring. What is sealed stays sealed with the same key, and other processes
    /// go on meanwhile. Cut off at any point, the key is in one of the two places or in both.
    ///
    /// # Errors
    ///
    /// [`StoreError::Keyring`] if there is none that keeps it; the key then stays where it was.
    pub async fn move_key_to_keyring(&self) -> Result<(), StoreError> {
        self.run(|desk| {
            let (database, keyring) = (desk.path().to_owned(), keyring(desk)?);
            let file = file(&database);
            if key_place(&database) == KeyPlace::Keyring {
                return Ok(());
            }
            let key = match read(&file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => make()?,
                read => read.map_err(|source| StoreError::Key { path: file.clone(), source })?,
            };
            let sign = sign(&database);
            let account = match account(&sign) {
                Ok(account) => account,
                Err(_) => format!("key {:016x}", u64::from_le_bytes(random()?)),
            };
            keyring.set(&account, &key)?;
            write(&sign, account.as_bytes())
                .map_err(|source| StoreError::Key { path: sign.clone(), source })?;
            match std::fs::remove_file(&file) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    Err(StoreError::Key { path: file, source })
                }
                _ => Ok(()),
            }
        })
        .await
    }

    /// Moves the key into the file beside the database.
    ///
    /// # Errors
    ///
    /// [`StoreError::Keyring`] if the keyring does not give it; it then stays there.
    pub async fn move_key_to_file(&self) -> Result<(), StoreError> {
        self.run(|desk| {
            let database = desk.path().to_owned();
            let (file, sign) = (file(&database), sign(&database));
            if !sign.exists() {
                return Ok(());
            }
            let failed = |path: &Path| {
                let path = path.to_owned();
                move |source| StoreError::Key { path, source }
            };
            let (account, keyring) = (account(&sign).map_err(failed(&sign))?, keyring(desk)?);
            if !file.exists() {
                let key = keyring.get(&account)?;
                match write(&file, key.as_ref()) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    written => written.map_err(failed(&file))?,
                }
            }
            std::fs::remove_file(&sign).map_err(failed(&sign))?;
            // Left behind it would be of no use to anybody, and of no harm.
            if let Err(error) = keyring.entry(&account)?.delete_credential() {
                tracing::warn!(reason = %self::failed(&error), "the key is still in the keyring, too");
            }
            Ok(())
        })
        .await
    }
}

/// The key, made if there is none.
pub(crate) fn key(desk: &Desk) -> Result<KeyBytes, StoreError> {
    let (path, sign) = (file(desk.path()), sign(desk.path()));
    let failed = |source| StoreError::Key { path: path.clone(), source };
    match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read.map_err(failed),
    }
    match account(&sign) {
        Ok(account) => return keyring(desk)?.get(&account),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(StoreError::Key { path: sign, source }),
    }
    let key = make()?;
    match write(&path, key.as_ref()) {
        Ok(()) => Ok(key),
        // Another process made it in the same moment: its key is the one.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(&path).map_err(failed),
        Err(source) => Err(failed(source)),
    }
}

fn keyring(desk: &Desk) -> Result<Keyring, StoreError> {
    match desk.keyring() {
        Some(keyring) => Ok(keyring.clone()),
        None => Keyring::system(),
    }
}

/// The name of the key in the keyring.
fn account(sign: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(sign)?.take(ACCOUNT_BYTES).read_to_string(&mut text)?;
    match text.trim() {
        "" => Err(io::Error::other("it is empty")),
        account => Ok(account.to_owned()),
    }
}

fn read(path: &Path) -> io::Result<KeyBytes> {
    let mut file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::other("others may read it; run chmod 600 on it"));
        }
    }
    let mut key = Zeroizing::new([0u8; KEY_BYTES]);
    file.read_exact(key.as_mut())?;
    Ok(key)
}

fn make() -> Result<KeyBytes, StoreError> {
    Ok(Zeroizing::new(random()?))
}

/// Writes a file for the owner only. Written whole under another name first: nobody may see half of it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = random::<8>().map_err(io::Error::other)?;
    let fresh = path.with_extension(format!("fresh-{:016x}", u64::from_le_bytes(name)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = options.open(&fresh).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::hard_link(&fresh, path)
    });
    let removed = std::fs::remove_file(&fresh);
    made.and(removed)
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0u8; N];
    getrandom::fill(&mut bytes).map_err(|source| StoreError::NoRandomness { source })?;
    Ok(bytes)
}
