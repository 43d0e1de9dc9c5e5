//! Kept secrets: sealed on the disk, bound to their name, origin and kind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_core::{Origin, Secret, SecretKind, SecretName};
use reins_store::{Store, StoredSecret};
use std::path::Path;
use std::time::SystemTime;

const VALUE: &str = "correct horse battery staple";

fn about(name: &str, origin: &str, kind: SecretKind) -> StoredSecret {
    let (name, origin) = (name.parse().unwrap(), Origin::parse(origin).unwrap());
    StoredSecret { name, origin, kind }
}

async fn keep(store: &Store, about: &StoredSecret, value: &str) {
    store.set_secret(about.clone(), Secret::new(value.into()), SystemTime::now()).await.unwrap();
}

async fn open(store: &Store, name: &str) -> Option<(StoredSecret, String)> {
    let name: SecretName = name.parse().unwrap();
    let found = store.secret(name).await.unwrap();
    found.map(|(about, value)| (about, value.expose().clone()))
}

/// Everything in the folder, as bytes.
fn on_disk(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
    files.flat_map(|path| std::fs::read(path).unwrap()).collect()
}

/// nothing on the disk has the value in plain text, and only the owner reads the key.
#[tokio::test]
async fn r015_secrets_are_sealed_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("reins.db")).unwrap();
    let bank = about("bank", "https://bank.example", SecretKind::Password);
    keep(&store, &bank, VALUE).await;
    store.flush().await.unwrap();
    assert_eq!(open(&store, "bank").await, Some((bank.clone(), VALUE.into())));
    assert_eq!(open(&store, "other").await, None);
    let bytes = on_disk(folder.path());
    assert!(!bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let key = std::fs::metadata(folder.path().join("reins.key")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
    }
    drop(store);
    let again = Store::open(folder.path().join("reins.db")).unwrap();
    assert_eq!(again.secrets().await.unwrap(), [bank]);
    assert_eq!(open(&again, "bank").await.unwrap().1, VALUE);
    assert!(again.remove_secret("bank".parse().unwrap()).await.unwrap());
    assert!(!again.remove_secret("bank".parse().unwrap()).await.unwrap());
    assert_eq!(open(&again, "bank").await, None);
}

/// A row that was changed by hand does not open: not for another origin, kind or name.
#[tokio::test]
async fn a_secret_moved_to_another_origin_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reins.db");
    let store = Store::open(&path).unwrap();
    keep(&store, &about("bank", "https://bank.example", SecretKind::Password), VALUE).await;
    for change in [
        "UPDATE secrets SET origin = 'https://evil.example'",
        "UPDATE secrets SET origin = 'https://bank.example', kind = 'text'",
    ] {
        rusqlite::Connection::open(&path).unwrap().execute(change, []).unwrap();
        let error = store.secret("bank".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.code(), "secret_sealed", "{change}");
        assert!(!error.to_string().contains(VALUE));
    }
    std::fs::write(folder.path().join("reins.key"), [7u8; 32]).unwrap();
    let undo = "UPDATE secrets SET kind = 'password'";
    rusqlite::Connection::open(&path).unwrap().execute(undo, []).unwrap();
    assert_eq!(
        store.secret("bank".parse().unwrap()).await.unwrap_err().code(),
        "secret_sealed",
        "another key"
    );
}

/// A key that others can read is no key.
#[cfg(unix)]
#[tokio::test]
async fn a_key_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("reins.db")).unwrap();
    keep(&store, &about("bank", "https://bank.example", SecretKind::Password), VALUE).await;
    let key = folder.path().join("reins.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    let error = store.secret("bank".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.code(), "secret_key");
    assert!(error.to_string().contains("chmod 600"), "{error}");
}

/// Several processes that keep their first secret at once end up with one key.
#[tokio::test(flavor = "multi_thread")]
async fn stores_that_start_at_once_share_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reins.db");
    let stores: Vec<Store> = (0..6).map(|_| Store::open(&path).unwrap()).collect();
    let keeping = stores.iter().enumerate().map(|(at, store)| {
        let (store, name) = (store.clone(), format!("s{at}"));
        tokio::spawn(async move {
            keep(&store, &about(&name, "https://shop.example", SecretKind::Text), VALUE).await;
        })
    });
    for kept in keeping.collect::<Vec<_>>() {
        kept.await.unwrap();
    }
    for at in 0..6 {
        assert_eq!(open(&stores[0], &format!("s{at}")).await.unwrap().1, VALUE);
    }
    assert_eq!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .filter(|file| { file.as_ref().unwrap().file_name().to_string_lossy().contains("key") })
            .count(),
        1
    );
}
