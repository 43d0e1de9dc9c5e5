//! Kept providers: keys sealed on the disk, bound to where they are sent.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_core::Secret;
use reins_store::{Store, StoredProvider};
use std::path::Path;
use std::time::{Duration, SystemTime};

const KEY: &str = "sk-correct-horse-battery-staple";

fn about(name: &str) -> StoredProvider {
    StoredProvider {
        name: name.parse().unwrap(),
        provider: "openai".into(),
        base: "https://api.example/v1".into(),
        format: "chat".into(),
        model: Some("m".into()),
        has_key: true,
    }
}

async fn keep(store: &Store, about: &StoredProvider, second: u64) {
    let key = about.has_key.then(|| Secret::new(KEY.to_owned()));
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    store.set_provider(about.clone(), key, at).await.unwrap();
}

fn change(path: &Path, sql: &str) {
    assert_eq!(rusqlite::Connection::open(path).unwrap().execute(sql, []).unwrap(), 1, "{sql}");
}

/// nothing on the disk has a key in plain text, and only the owner reads what opens it.
#[tokio::test]
async fn r015_keys_of_providers_are_sealed_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reins.db");
    let store = Store::open(&path).unwrap();
    let (first, local) = (about("work"), StoredProvider { has_key: false, ..about("local") });
    keep(&store, &first, 1).await;
    keep(&store, &local, 2).await;
    store.flush().await.unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let bytes = std::fs::read(file).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let key = std::fs::metadata(folder.path().join("reins.key")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
    }
    drop(store);
    let again = Store::open(&path).unwrap();
    assert_eq!(again.providers().await.unwrap(), [local.clone(), first.clone()], "the last first");
    let (kept, key) = again.provider(first.name.clone()).await.unwrap().unwrap();
    assert_eq!((kept, key.unwrap().expose().as_str()), (first.clone(), KEY));
    let (kept, key) = again.provider(local.name.clone()).await.unwrap().unwrap();
    assert!(key.is_none() && kept == local);
    assert!(again.remove_provider(first.name.clone()).await.unwrap());
    assert!(!again.remove_provider(first.name.clone()).await.unwrap());
    assert!(again.provider(first.name).await.unwrap().is_none());
}

/// Whoever can write the file still cannot send a key elsewhere.
#[tokio::test]
async fn a_key_does_not_open_for_another_address() {
    for sql in [
        "UPDATE providers SET base = 'https://evil.example/v1'",
        "UPDATE providers SET provider = 'custom'",
        "UPDATE providers SET format = 'messages'",
        "UPDATE providers SET name = 'other'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reins.db");
        let store = Store::open(&path).unwrap();
        keep(&store, &about("work"), 1).await;
        change(&path, sql);
        let name = store.providers().await.unwrap()[0].name.clone();
        let error = store.provider(name).await.unwrap_err();
        assert_eq!(error.code(), "secret_sealed", "{sql}");
        assert!(!error.to_string().contains(KEY));
        change(&path, "UPDATE providers SET model = 'another'");
    }
}

#[test]
fn names_hold_no_slash() {
    for good in ["openai", "my.work_2-x"] {
        assert!(good.parse::<reins_store::ProviderName>().is_ok());
    }
    for bad in ["", "a/b", "a b", "ä", &"x".repeat(41)] {
        assert!(bad.parse::<reins_store::ProviderName>().is_err(), "{bad}");
    }
}
