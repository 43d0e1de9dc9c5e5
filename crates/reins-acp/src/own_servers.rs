//! MCP servers of the person's own configuration. An agent that works for a run of ours gets our tools
//! alone, so those are switched off for it by name; the file itself is left as it is.

use crate::recipe::OwnServers;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A configuration that is longer is none.
const FILE_BYTES: u64 = 1024 * 1024;

/// Their names. A file that is not there or cannot be read has none that the agent could start.
pub(crate) fn names(place: &OwnServers, environment: &[(OsString, OsString)]) -> Vec<String> {
    let value = |name: &str| {
        let found = environment.iter().find(|(key, _)| key.as_os_str() == OsStr::new(name));
        found.map(|(_, value)| PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
    };
    let folder =
        value(place.variable).or_else(|| value("HOME").map(|home| home.join(place.folder)));
    let Some(file) = folder.map(|folder| folder.join(place.file)) else {
        return Vec::new();
    };
    if std::fs::metadata(&file).is_ok_and(|about| about.len() > FILE_BYTES) {
        return Vec::new();
    }
    let Ok(text) = std::fs::read_to_string(&file) else {
        return Vec::new();
    };
    match text.parse::<toml::Table>() {
        Ok(all) => {
            let servers = all.get(place.table).and_then(toml::Value::as_table);
            servers.into_iter().flat_map(|table| table.keys().cloned()).collect()
        }
        Err(error) => {
            // The agent will not read it either.
            tracing::debug!(%error, "the agent's own configuration is no TOML");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: OwnServers = OwnServers {
        variable: "CODEX_HOME",
        folder: ".codex",
        file: "config.toml",
        table: "mcp_servers",
    };

    #[test]
    fn servers_are_found_in_every_spelling_of_the_file() {
        let home = tempfile::tempdir().unwrap();
        let environment = [("HOME".into(), home.path().as_os_str().to_owned())];
        assert!(names(&PLACE, &environment).is_empty());
        let folder = home.path().join(".codex");
        std::fs::create_dir(&folder).unwrap();
        for (text, expected) in [
            (
                "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.\"b c\"]\nurl = \"y\"",
                vec!["a", "b c"],
            ),
            ("mcp_servers = { a = { command = \"x\" } }", vec!["a"]),
            ("mcp_servers.a.command = \"x\"", vec!["a"]),
            ("model = \"[mcp_servers.a]\"", vec![]),
            ("no toml [", vec![]),
        ] {
            std::fs::write(folder.join("config.toml"), text).unwrap();
            assert_eq!(names(&PLACE, &environment), expected, "{text}");
        }
        let elsewhere = tempfile::tempdir().unwrap();
        let own = ("CODEX_HOME".into(), elsewhere.path().as_os_str().to_owned());
        assert!(names(&PLACE, &[environment[0].clone(), own]).is_empty());
    }
}
