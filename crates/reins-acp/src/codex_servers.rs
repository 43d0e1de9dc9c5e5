//! MCP servers that a person has in Codex's own configuration. Codex would start them in our run as
//! well, and may call a tool of theirs without asking; so each is switched off by its name.

use std::path::PathBuf;

/// The names in Codex's configuration, if it has one.
pub(crate) fn configured() -> Vec<String> {
    let home = std::env::var_os("CODEX_HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".codex")));
    let text = home.and_then(|home| std::fs::read_to_string(home.join("config.toml")).ok());
    named(&text.unwrap_or_default())
}

/// The `NAME` of each `[mcp_servers.NAME…]`. Other spellings of a table stay unseen, and names
/// that an argument cannot carry are left out.
fn named(config: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in config.lines() {
        let Some(rest) = line.trim_start().strip_prefix('[') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("mcp_servers") else { continue };
        let Some(rest) = rest.trim_start().strip_prefix('.') else { continue };
        let rest = rest.trim_start();
        let name = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next(),
            _ => rest.split(['.', ']', ' ', '\t']).next(),
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if bare && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r086_servers_of_codexs_own_configuration_are_found() {
        let config = "model = 'x'\n[mcp_servers.linear]\ncommand = 'a'\n[mcp_servers.linear.env]\nA = '1'\n\
            [ mcp_servers . \"my-docs\" ]\n[mcp_servers.'odd name']\n# [mcp_servers.not]\n[mcp_servers_x.y]\n[mcp_servers]\n";
        assert_eq!(named(config), ["linear", "my-docs"]);
        assert!(named("").is_empty());
    }
}
