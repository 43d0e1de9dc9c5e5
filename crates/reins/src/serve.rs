//! `reins serve`.

use crate::browser_flags::data_dir;
use crate::exit;
use crate::model;
use crate::serve_runs::AgentRunner;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use reins_serve::limits::ORDER_BYTES;
use reins_serve::{
    Config, LocalBackend, Order, SOCKET, Scope, ScopeError, Serve, ServeOptions, Single,
    SingleOptions, SystemClock, TokenBook,
};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

/// The daemon's own directory, inside the data directory.
pub(crate) const DIR: &str = "serve";

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
    /// Under which names browsers offer their tools over MCP
    #[arg(long, value_enum, default_value = "playwright")]
    mcp_names: crate::cli::NamesFlag,
    /// Run one browser alone, as a container does: its settings are JSON in this file, or on stdin for `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "port", "no_port", "socket"])]
    session_from: Option<PathBuf>,
    /// With --session-from: where to listen; in a container that is its own network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", requires = "session_from")]
    listen: SocketAddr,
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
    if let Some(settings) = &args.session_from {
        return alone(settings, &args).await;
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
        mcp: Some(Arc::new(crate::serve_mcp::SessionDoors::new(args.mcp_names.into()))),
        // Providers are the person's own, kept beside the daemon's directory.
        runner: Some(Arc::new(AgentRunner { store: model::store(&data_dir(None)?)? })),
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

/// One browser alone, until it ends or a signal comes.
async fn alone(settings: &Path, args: &ServeArgs) -> Result<ExitCode> {
    let order = Order::parse(&read(settings)?)?;
    let dir = match &args.place.data {
        Some(_) => args.place.dir()?,
        None => std::env::temp_dir().join(format!("reins-session-{}", std::process::id())),
    };
    let started = Single::start(
        order,
        SingleOptions {
            data_dir: dir.clone(),
            listen: args.listen,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend: Arc::new(LocalBackend {
                binary: args.browser.clone(),
                no_sandbox: args.no_sandbox,
            }),
            mcp: Some(Arc::new(crate::serve_mcp::SessionDoors::new(args.mcp_names.into()))),
            clock: Arc::new(SystemClock),
        },
    )
    .await;
    let ended = match started {
        Ok(single) => until_over(single).await,
        Err(error) => Err(error.into()),
    };
    // Also after a start that failed; a directory that was named stays.
    if args.place.data.is_none() && dir.exists() {
        std::fs::remove_dir_all(&dir).with_context(|| format!("{} is left", dir.display()))?;
    }
    ended.map(|()| ExitCode::from(exit::DONE))
}

/// Says that it is ready, and stops it at its end or at a signal.
async fn until_over(single: Single) -> Result<()> {
    let said = say(&single.ready());
    if said.is_ok() {
        tokio::select! {
            reason = single.ended() => tracing::info!(reason, "the browser ended"),
            () = crate::mcp::interrupted() => {}
        }
    }
    single.stop().await;
    said
}

/// Settings are small; a file that never ends is none.
fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(ORDER_BYTES).read_to_string(&mut text)?;
    } else {
        let file = std::fs::File::open(path);
        let file = file.with_context(|| format!("{} can't be read", path.display()))?;
        file.take(ORDER_BYTES).read_to_string(&mut text)?;
    }
    Ok(text)
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
