//! `reins secrets`: sign-ins that the agent may use by name and never sees.

use crate::cli::{KeyWord, SecretsArgs, SecretsCommand};
use crate::exit;
use anyhow::{Context, Result, bail};
use reins_control::{STORE_FILE, SecretBook};
use reins_core::Secret;
use reins_store::{KeyPlace, Keyring, key_place};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// A longer value is no password but a file by mistake.
const VALUE_BYTES: u64 = 16 * 1024;

pub(crate) async fn main(args: SecretsArgs) -> Result<ExitCode> {
    let data = crate::browser_flags::data_dir(args.data_dir.as_deref())?;
    let book = SecretBook::open(&data)?;
    match args.command {
        SecretsCommand::Key { to } => {
            let store = crate::model::store(&data)?;
            match to {
                Some(KeyWord::File) => store.move_key_to_file().await?,
                Some(KeyWord::Keyring) => store.move_key_to_keyring().await?,
                None => {}
            }
            say(&key_line(&data))?;
        }
        SecretsCommand::Set { name, origin, kind } => {
            let value = typed(&format!("Value of {name}"), false)?;
            let kept = book.set(name, &origin, kind, value).await?;
            say(&format!(
                "{} is kept for {} ({} fields). The agent can use its name; it never sees the value.",
                kept.name, kept.origin, kept.kind
            ))?;
        }
        SecretsCommand::Remove { name } => {
            if !book.remove(name.clone()).await? {
                say(&format!("there is no secret {name}; `reins secrets list` shows them"))?;
                return Ok(ExitCode::from(exit::FAILED));
            }
            say(&format!("{name} is forgotten"))?;
        }
        SecretsCommand::List => {
            let kept = book.list().await?;
            if kept.is_empty() {
                say("no secrets; keep one with `reins secrets set NAME --origin SITE`")?;
            }
            for secret in kept {
                say(&format!("{:<20} {:<9} {}", secret.name, secret.kind, secret.origin))?;
            }
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

/// Where the key is that seals secrets and keys of providers.
pub(crate) fn key_line(data: &Path) -> String {
    let database = data.join(STORE_FILE);
    match key_place(&database) {
        KeyPlace::File => {
            format!("keys are sealed under {}", database.with_extension("key").display())
        }
        KeyPlace::Keyring if Keyring::is_built_in() => {
            "keys are sealed under a key in the keyring of the system".to_owned()
        }
        KeyPlace::Keyring => {
            "keys are sealed under a key in the keyring of the system, which this \
                              build cannot reach: it was made without `os-keyring`"
                .to_owned()
        }
        KeyPlace::Nowhere => "no keys are kept yet".to_owned(),
    }
}

fn say(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")
}

/// A value, typed without echo or piped in. Never an argument: those show in process lists.
pub(crate) fn typed(what: &str, may_be_empty: bool) -> Result<Secret<String>> {
    let stdin = std::io::stdin();
    let mut value = if stdin.is_terminal() {
        let terminal = console::Term::stderr();
        terminal.write_str(&format!("{what} (not shown): "))?;
        terminal.read_secure_line().context("the value could not be read")?
    } else {
        let mut text = String::new();
        stdin
            .lock()
            .take(VALUE_BYTES + 1)
            .read_to_string(&mut text)
            .context("the value on stdin is no text")?;
        text
    };
    // The end of the line is how it was typed, not part of it.
    while value.ends_with(['\n', '\r']) {
        value.pop();
    }
    if value.is_empty() && !may_be_empty {
        bail!("the value is empty, so nothing was kept; type it, or pipe it in on stdin");
    }
    if value.len() as u64 > VALUE_BYTES {
        bail!("the value is longer than {VALUE_BYTES} bytes, so nothing was kept");
    }
    Ok(Secret::new(value))
}
