//! The few preferences that a profile must have before its browser starts.
//!
//! Chromium fetches pages ahead of a click when a page asks for it (speculation rules). Those
//! requests start in the browser itself: neither interception nor the targets we attach to see
//! them, so a page could send anything anywhere. Only the preference "preload pages: off" stops
//! them; no flag and no command does (tried on Chromium 156).

use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

/// Where Chromium keeps the preferences of the profile it opens by default.
const FILE: &str = "Default/Preferences";

/// "Preload pages: off".
const NEVER: u64 = 2;

/// Writes those of a temporary profile, where nothing asks to save a password or an address either.
pub(crate) fn write_new(profile: &Path) -> io::Result<()> {
    let preferences = json!({
        "net": {"network_prediction_options": NEVER},
        "credentials_enable_service": false,
        "profile": {"password_manager_enabled": false},
        "autofill": {"profile_enabled": false, "credit_card_enabled": false},
    });
    store(profile, &preferences)
}

/// Adds them to a profile that stays. Its browser must not be running. Whatever else the person
/// set is kept; a file that cannot be read is Chromium's to replace.
pub(crate) fn add(profile: &Path) -> io::Result<()> {
    let mut preferences = match std::fs::read(profile.join(FILE)) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(Value::Object(map)) => map,
            Ok(_) | Err(_) => Map::new(),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Map::new(),
        Err(e) => return Err(e),
    };
    let net = preferences.entry("net").or_insert_with(|| json!({}));
    if net["network_prediction_options"] == NEVER {
        return Ok(());
    }
    match net {
        Value::Object(net) => {
            net.insert("network_prediction_options".to_owned(), NEVER.into());
        }
        other => *other = json!({"network_prediction_options": NEVER}),
    }
    store(profile, &Value::Object(preferences))
}

/// Replaces the file as a whole, so that a crash leaves the old one or the new one.
fn store(profile: &Path, preferences: &Value) -> io::Result<()> {
    let file = profile.join(FILE);
    let dir = file.parent().unwrap_or(profile);
    std::fs::create_dir_all(dir)?;
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    serde_json::to_writer(&mut new, preferences)?;
    new.persist(&file).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(profile: &Path) -> Value {
        serde_json::from_slice(&std::fs::read(profile.join(FILE)).unwrap()).unwrap()
    }

    #[test]
    fn adding_keeps_what_the_person_set() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path()).unwrap();
        assert_eq!(read(dir.path()), json!({"net": {"network_prediction_options": 2}}));

        let theirs = json!({
            "net": {"network_prediction_options": 0, "other": [1]},
            "homepage": "https://example.com/",
        });
        store(dir.path(), &theirs).unwrap();
        add(dir.path()).unwrap();
        let mut expected = theirs;
        expected["net"]["network_prediction_options"] = 2.into();
        assert_eq!(read(dir.path()), expected);
    }

    #[test]
    fn a_file_that_is_no_preferences_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("Default")).unwrap();
        for junk in ["", "not json", "[]", r#"{"net": 7}"#] {
            std::fs::write(dir.path().join(FILE), junk).unwrap();
            add(dir.path()).unwrap();
            assert_eq!(read(dir.path())["net"]["network_prediction_options"], 2, "{junk}");
        }
    }
}
