//! `reins serve`.

use crate::browser_flags::data_dir;
use crate::exit;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use reins_serve::{
    Config, LocalBackend, SOCKET, Scope, ScopeError, Serve, ServeOptions, SystemClock, TokenBook,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

/// The daemon's own directory, inside the data directory.
const DIR: &str = "serve";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    /// Read the configuration from this file (default: serve.toml in the daemon's directory, if it is there)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The loopback port; 0 takes a free one
    #[arg(long)]
    port: Option<u16>,
    /// Listen on the owner's socket alone
    #[arg(long, conflicts_with = "port")]
    no_port: bool,
    /// Where the owner's socket is (default: serve.sock in the daemon's directory)
    #[arg(long, value_name = "FILE")]
    socket: Option<PathBuf>,
    /// The browser to use (default: Chromium, Chrome, Edge or Brave where they usually are)
    #[arg(long, value_name = "FILE", env = "REINS_BROWSER")]
    browser: Option<PathBuf>,
    /// Run Chromium without its own sandbox, as root must
    #[arg(long, env = "REINS_NO_SANDBOX", value_parser = clap::builder::FalseyValueParser::new(), num_args = 0, default_missing_value = "1")]
    no_sandbox: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct Place {
    /// The daemon's directory: its database, its socket, its recordings
    #[arg(long, value_name = "DIR", env = "REINS_SERVE_DIR")]
    data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    /// Make, show and remove the tokens that others use the daemon with
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Print a link that signs the dashboard of the running daemon in, once
    Link {
        /// Where the owner's socket is (default: serve.sock in the daemon's directory)
        #[arg(long, value_name = "FILE")]
        socket: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token and print it, once
    Add {
        /// Who or what holds it; others see this name
        name: String,
        /// Whose sandboxes, recordings and minutes it opens
        #[arg(long, default_value = "local")]
        tenant: String,
        /// What it may do: read, act, take_over, manage, metrics, joined by commas
        #[arg(long, value_delimiter = ',', default_value = "read,act", value_parser = scope)]
        scopes: Vec<Scope>,
        /// Print its hash for a configuration file as well
        #[arg(long)]
        print_hash: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show all tokens, never the tokens themselves
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Remove a token; it opens nothing from now on
    Remove {
        /// Its name
        name: String,
        /// Whose it is
        #[arg(long, default_value = "local")]
        tenant: String,
        #[command(flatten)]
        place: Place,
    },
}

fn scope(word: &str) -> Result<Scope, ScopeError> {
    word.parse()
}

impl Place {
    fn dir(&self) -> Result<PathBuf> {
        match &self.data {
            Some(dir) => {
                std::path::absolute(dir).with_context(|| format!("{} is not usable", dir.display()))
            }
            None => Ok(data_dir(None)?.join(DIR)),
        }
    }

    fn tokens(&self) -> Result<TokenBook> {
        Ok(TokenBook::open(&self.dir()?)?)
    }
}

/// Serves until a signal comes.
pub(crate) async fn main(args: ServeArgs) -> Result<ExitCode> {
    match args.command {
        Some(ServeCommand::Token { command }) => return token(command).await,
        Some(ServeCommand::Link { socket, place }) => {
            let socket = match socket {
                Some(socket) => socket,
                None => place.dir()?.join(SOCKET),
            };
            let link = reins_serve::dashboard_link(&socket).await?;
            say(&link)?;
            return Ok(ExitCode::from(exit::DONE));
        }
        None => {}
    }
    let dir = args.place.dir()?;
    let mut config = config(args.config.as_deref(), &dir)?;
    if let Some(port) = args.port {
        config.server.port = port;
    }
    let serve = Serve::start(ServeOptions {
        config,
        data_dir: dir,
        socket: args.socket,
        port: !args.no_port,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backend: Arc::new(LocalBackend { binary: args.browser, no_sandbox: args.no_sandbox }),
        companions: Vec::new(),
        mcp: None,
        runner: None,
        clock: Arc::new(SystemClock),
    })
    .await?;
    if let Some(link) = serve.link()? {
        say(&format!("dashboard: {}", link.expose()))?;
    }
    say(&format!("socket: {}", serve.socket().display()))?;
    crate::mcp::interrupted().await;
    serve.stop().await;
    Ok(ExitCode::from(exit::DONE))
}

fn config(given: Option<&Path>, dir: &Path) -> Result<Config> {
    let usual = dir.join("serve.toml");
    match given {
        Some(path) => Ok(Config::read(path)?),
        None if usual.is_file() => Ok(Config::read(&usual)?),
        None => Ok(Config::default()),
    }
}

async fn token(command: TokenCommand) -> Result<ExitCode> {
    match command {
        TokenCommand::Add { name, tenant, scopes, print_hash, place } => {
            let scopes = scopes.into_iter().collect();
            let now = SystemTime::now();
            let made = place.tokens()?.add(&tenant, &name, &scopes, now).await?;
            // The one place where a token is shown.
            say(made.token.expose())?;
            if print_hash {
                say(&format!("hash: {}", made.hash))?;
            }
        }
        TokenCommand::List { place } => {
            for token in place.tokens()?.list().await? {
                say(&format!("{}\t{}\t{}", token.tenant, token.name, token.scopes))?;
            }
        }
        TokenCommand::Remove { name, tenant, place } => {
            if !place.tokens()?.remove(&tenant, &name).await? {
                anyhow::bail!(
                    "'{tenant}' has no token called '{name}'; `reins serve token list` shows them"
                );
            }
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

fn say(line: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()?;
    Ok(())
}
