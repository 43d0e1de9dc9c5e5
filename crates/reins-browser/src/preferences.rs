//! The few preferences that a profile must have before its browser starts.
//!
//! Chromium fetches pages ahead of a click when a page asks for it (speculation rules). Those
//! requests start in the browser itself: neither interception nor the targets we attach to see
//! them, so a page could send anything anywhere. Only the preference "preload pages: off" stops
//! them; no flag and no command does (tried on Chromium 156).
//!
//! A browser that nobody looks at draws half as often: "energy saver" holds animations at 30 frames
//! a second. What is still is drawn at once either way.

use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

/// Where Chromium keeps the preferences of the profile it opens by default.
const FILE: &str = "Default/Preferences";

/// "Preload pages: off".
const NEVER: u64 = 2;

/// Where Chromium keeps what holds for all profiles of one data directory.
const SHARED: &str = "Local State";

/// "Energy saver" on, whether there is a battery or not.
const ALWAYS: u64 = 3;

/// Writes those of a temporary profile, where nothing asks to save a password or an address either.
pub(crate) fn write_new(profile: &Path, headless: bool) -> io::Result<()> {
    let preferences = json!({
        "net": {"network_prediction_options": NEVER},
        "credentials_enable_service": false,
        "profile": {"password_manager_enabled": false},
        "autofill": {"profile_enabled": false, "credit_card_enabled": false},
    });
    if headless {
        let shared = json!({"performance_tuning": {"battery_saver_mode": {"state": ALWAYS}}});
        store(&profile.join(SHARED), &shared)?;
    }
    store(&profile.join(FILE), &preferences)
}

/// Adds them to a profile that stays. Its browser must not be running. Whatever else the person
/// set is kept; a file that cannot be read is Chromium's to replace.
pub(crate) fn add(profile: &Path, headless: bool) -> io::Result<()> {
    let energy = &["performance_tuning", "battery_saver_mode", "state"];
    // Only what was set here is taken back: in a window the person's own choice counts.
    let (from, to) = if headless { (None, Some(ALWAYS)) } else { (Some(ALWAYS), None) };
    change(&profile.join(SHARED), energy, from, to)?;
    change(&profile.join(FILE), &["net", "network_prediction_options"], None, Some(NEVER))
}

/// Sets one number in a file, or takes it out. Where `from` is given, nothing but that is changed.
fn change(file: &Path, path: &[&str], from: Option<u64>, to: Option<u64>) -> io::Result<()> {
    let mut whole = match std::fs::read(file) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(Value::Object(map)) => map,
            Ok(_) | Err(_) => Map::new(),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Map::new(),
        Err(e) => return Err(e),
    };
    let Some((name, groups)) = path.split_last() else { return Ok(()) };
    let now = groups.iter().try_fold(&whole, |at, group| at.get(*group)?.as_object());
    let now = now.and_then(|group| group.get(*name)).and_then(Value::as_u64);
    if now == to || (from.is_some() && now != from) {
        return Ok(());
    }
    let mut at = &mut whole;
    for group in groups {
        let inner = at.entry(*group).or_insert_with(|| json!({}));
        if !inner.is_object() {
            *inner = json!({});
        }
        let Value::Object(map) = inner else { return Ok(()) };
        at = map;
    }
    match to {
        Some(to) => at.insert((*name).to_owned(), to.into()),
        None => at.remove(*name),
    };
    store(file, &Value::Object(whole))
}

/// Replaces the file as a whole, so that a crash leaves the old one or the new one.
fn store(file: &Path, preferences: &Value) -> io::Result<()> {
    let dir = file.parent().unwrap_or(file);
    std::fs::create_dir_all(dir)?;
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    serde_json::to_writer(&mut new, preferences)?;
    new.persist(file).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(profile: &Path, file: &str) -> Value {
        serde_json::from_slice(&std::fs::read(profile.join(file)).unwrap()).unwrap()
    }

    #[test]
    fn adding_keeps_what_the_person_set() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), false).unwrap();
        assert_eq!(read(dir.path(), FILE), json!({"net": {"network_prediction_options": 2}}));

        let theirs = json!({
            "net": {"network_prediction_options": 0, "other": [1]},
            "homepage": "https://example.com/",
        });
        store(&dir.path().join(FILE), &theirs).unwrap();
        add(dir.path(), false).unwrap();
        let mut expected = theirs;
        expected["net"]["network_prediction_options"] = 2.into();
        assert_eq!(read(dir.path(), FILE), expected);
    }

    #[test]
    fn a_file_that_is_no_preferences_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("Default")).unwrap();
        for junk in ["", "not json", "[]", r#"{"net": 7}"#] {
            std::fs::write(dir.path().join(FILE), junk).unwrap();
            add(dir.path(), false).unwrap();
            assert_eq!(read(dir.path(), FILE)["net"]["network_prediction_options"], 2, "{junk}");
        }
    }

    /// In a window the person's own choice is what counts, whatever ran without one before.
    #[test]
    fn energy_is_saved_without_a_window_only() {
        let dir = tempfile::tempdir().unwrap();
        let saver = || read(dir.path(), SHARED)["performance_tuning"]["battery_saver_mode"].clone();
        add(dir.path(), false).unwrap();
        assert!(!dir.path().join(SHARED).exists(), "nothing to take back");
        add(dir.path(), true).unwrap();
        assert_eq!(saver(), json!({"state": 3}));
        add(dir.path(), false).unwrap();
        assert_eq!(saver(), json!({}));
        let theirs = json!({"performance_tuning": {"battery_saver_mode": {"state": 1}}});
        store(&dir.path().join(SHARED), &theirs).unwrap();
        add(dir.path(), false).unwrap();
        assert_eq!(read(dir.path(), SHARED), theirs);
    }
}
