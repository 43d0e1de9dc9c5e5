//! Saved sign-ins: sealed on the disk, and bound to tenant and app.

#![allow(clippy::unwrap_used, reason = "a failed step must stop the test")]

use reins_core::{Origin, Secret};
use reins_store::Store;
use std::time::SystemTime;

const VALUE: &str = r#"{"cookies":[{"name":"sid","value":"correct horse battery"}]}"#;

/// S-028: kept sealed, opened for its own tenant and app only, replaced and forgotten.
#[tokio::test]
async fn s028_a_sign_in_is_sealed_and_opens_for_its_tenant_and_app_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reins.db");
    let store = Store::open(&path).unwrap();
    let app = Origin::parse("https://app.example").unwrap();
    let other = Origin::parse("https://app.example:8443").unwrap();
    let now = SystemTime::now();
    store.set_sign_in("one", &app, Secret::new("older".into()), now).await.unwrap();
    store.set_sign_in("one", &app, Secret::new(VALUE.into()), now).await.unwrap();
    store.flush().await.unwrap();
    assert_eq!(store.sign_in("one", &app).await.unwrap().unwrap().expose(), VALUE);
    assert!(store.sign_in("two", &app).await.unwrap().is_none());
    assert!(store.sign_in("one", &other).await.unwrap().is_none());
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let bytes: Vec<u8> =
        files.filter(|path| path.is_file()).flat_map(|file| std::fs::read(file).unwrap()).collect();
    let word = b"correct horse";
    assert!(!bytes.windows(word.len()).any(|window| window == word));
    for change in [
        "UPDATE sign_ins SET tenant = 'two'",
        "UPDATE sign_ins SET tenant = 'one', origin = 'https://evil.example'",
    ] {
        rusqlite::Connection::open(&path).unwrap().execute(change, []).unwrap();
        let (tenant, at) = if change.contains("two") {
            ("two", app.clone())
        } else {
            ("one", Origin::parse("https://evil.example").unwrap())
        };
        assert!(store.sign_in(tenant, &at).await.is_err(), "{change}");
        assert!(store.remove_sign_in(tenant, &at).await.unwrap());
        store.set_sign_in("one", &app, Secret::new(VALUE.into()), now).await.unwrap();
    }
    assert!(store.remove_sign_in("one", &app).await.unwrap());
    assert!(!store.remove_sign_in("one", &app).await.unwrap());
}
