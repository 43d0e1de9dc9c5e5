//! The key in the keyring of the system: a keyring in memory in its place.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use keyring_core::mock;
use reins_core::{Origin, Secret, SecretKind};
use reins_store::{KeyPlace, Keyring, Store, StoredSecret, key_place};
use std::path::Path;
use std::time::SystemTime;

const VALUE: &str = "correct horse battery";

fn keyring() -> Keyring {
    Keyring::of(mock::Store::new().unwrap())
}

async fn keep(store: &Store) {
    let about = StoredSecret {
        name: "login".parse().unwrap(),
        origin: Origin::parse("https://a.example").unwrap(),
        kind: SecretKind::Password,
    };
    let value = Secret::new(VALUE.to_owned());
    store.set_secret(about, value, SystemTime::now()).await.unwrap();
}

/// The value, or the code of what went wrong.
async fn kept(store: &Store) -> String {
    match store.secret("login".parse().unwrap()).await {
        Ok(found) => found.expect("kept").1.expose().clone(),
        Err(error) => error.code().to_owned(),
    }
}

fn open(path: &Path, keyring: &Keyring) -> Store {
    Store::open_with_keyring(path, keyring.clone()).unwrap()
}

/// the key goes to the keyring and back, and what was sealed opens all the while; other processes
/// go on meanwhile.
#[tokio::test]
async fn r015_the_key_moves_to_the_keyring_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, keyring) = (folder.path().join("reins.db"), keyring());
    assert_eq!(key_place(&path), KeyPlace::Nowhere);
    let store = open(&path, &keyring);
    keep(&store).await;
    assert_eq!(key_place(&path), KeyPlace::File);
    let file = std::fs::read(path.with_extension("key")).unwrap();
    let other = open(&path, &keyring);
    store.move_key_to_keyring().await.unwrap();
    assert_eq!(key_place(&path), KeyPlace::Keyring);
    let names = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    for left in names.filter(|path| path.is_file()) {
        let bytes = std::fs::read(&left).unwrap();
        assert!(!bytes.windows(file.len()).any(|window| window == file), "{}", left.display());
    }
    for store in [&store, &other, &open(&path, &keyring)] {
        assert_eq!(kept(store).await, VALUE);
    }
    store.move_key_to_keyring().await.unwrap();
    other.move_key_to_file().await.unwrap();
    assert_eq!(key_place(&path), KeyPlace::File);
    assert_eq!(std::fs::read(path.with_extension("key")).unwrap(), file, "it is the same key");
    assert_eq!(kept(&Store::open(&path).unwrap()).await, VALUE);
}

/// A keyring that cannot be reached makes no new key, and a move that fails leaves the key where it is.
#[tokio::test]
async fn r015_without_its_keyring_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (path, keyring) = (folder.path().join("reins.db"), keyring());
    let store = open(&path, &keyring);
    keep(&store).await;
    store.move_key_to_keyring().await.unwrap();
    let elsewhere = open(&path, &self::keyring());
    assert_eq!(kept(&elsewhere).await, "secret_keyring");
    let refused = elsewhere.move_key_to_file().await.unwrap_err();
    assert_eq!(refused.code(), "secret_keyring");
    assert_eq!(key_place(&path), KeyPlace::Keyring, "no other key was made");
    assert_eq!(kept(&store).await, VALUE);
    // Cut off after the file was written and before the sign was gone: the file is read.
    store.move_key_to_file().await.unwrap();
    std::fs::write(path.with_extension("key-in-keyring"), "key of nobody").unwrap();
    assert_eq!(kept(&open(&path, &self::keyring())).await, VALUE);
}

/// A build without the system's keyring says so and keeps the file.
#[tokio::test]
async fn r015_a_build_without_a_keyring_keeps_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reins.db");
    let store = Store::open(&path).unwrap();
    keep(&store).await;
    if !Keyring::is_built_in() {
        let refused = store.move_key_to_keyring().await.unwrap_err();
        assert!(refused.to_string().contains("os-keyring"), "{refused}");
        assert_eq!(key_place(&path), KeyPlace::File);
    }
    assert_eq!(kept(&store).await, VALUE);
}
