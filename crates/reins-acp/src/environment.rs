//! What an agent sees of the environment: nothing but who the person is, their language, and how
//! to reach the network (R-076).

use std::ffi::{OsStr, OsString};

/// Names that every agent gets. Keys and tokens of the launching shell are not among them.
const ALLOWED: &[&str] = &[
    // Who the person is, where their files are. Sign-ins and their keyrings hang on these.
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    // Language and time.
    "LANG",
    "LANGUAGE",
    "TZ",
    // Proxies, in both spellings that are about.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    // Certificate authorities.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    // Where packages come from: a company's mirror is a kind of proxy.
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
];

/// The agent's environment out of ours. `keeps` are further names that a recipe needs, such as the
/// directory of the agent's own sign-in.
pub(crate) fn environment(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    keeps: &[&str],
    path: &OsStr,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<_> = ours
        .into_iter()
        .filter(|(name, _)| name.to_str().is_some_and(|name| allowed(name, keeps)))
        .collect();
    kept.push(("PATH".into(), path.to_owned()));
    // Nobody looks at its screen.
    kept.push(("TERM".into(), "dumb".into()));
    kept.push(("NO_COLOR".into(), "1".into()));
    kept
}

fn allowed(name: &str, keeps: &[&str]) -> bool {
    ALLOWED.contains(&name) || name.starts_with("LC_") || keeps.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-076: keys of the launching shell never reach an agent, whatever they are called.
    #[test]
    fn r076_only_the_allow_list_reaches_an_agent() {
        let ours = [
            ("HOME", "/home/kim"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("https_proxy", "http://proxy:3128"),
            ("CODEX_HOME", "/home/kim/.codex"),
            ("PATH", "/evil"),
            ("OPENAI_API_KEY", "sk-1"),
            ("ANTHROPIC_AUTH_TOKEN", "t"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("GITHUB_TOKEN", "g"),
            ("LD_PRELOAD", "/evil.so"),
            ("NODE_OPTIONS", "--require /evil.js"),
            ("REINS_API_KEY", "r"),
            ("BASH_ENV", "/evil.sh"),
            ("home", "/wrong"),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let kept = environment(ours, &["CODEX_HOME"], OsStr::new("/usr/bin"));
        let mut names: Vec<_> = kept.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["CODEX_HOME", "HOME", "LC_ALL", "NO_COLOR", "PATH", "TERM", "https_proxy"]
        );
        assert!(kept.contains(&("PATH".into(), "/usr/bin".into())));
    }
}
