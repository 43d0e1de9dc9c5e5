//! A run: one prompt to one agent, and nothing of it left afterwards (R-087…R-089).

use crate::error::AcpError;
use crate::launch::Launch;
use crate::offer::Offer;
use crate::place::Scratch;
use crate::process::{Ends, Process};
use crate::recipe::Prepared;
use crate::service::Run;
use crate::talk::{Event, Limits, Talk};
use crate::tools::{SERVER, ToolServer, Tools, random};
use crate::wire::Wire;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// What a run needs besides the agent.
#[derive(Clone)]
pub struct Prompt {
    /// The tools of this run; without them the agent sees no server at all.
    pub tools: Option<Arc<dyn Tools>>,
    /// Our own program, which the agent starts as its MCP server.
    pub shim: PathBuf,
    /// Where scratch directories are made.
    pub cache: PathBuf,
    /// Where the run's socket is made.
    pub sockets: PathBuf,
    /// The model that was asked for.
    pub model: Option<String>,
    /// Our version, as agents see it.
    pub version: &'static str,
    /// How long it may be silent.
    pub limits: Limits,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The agent's own name and version.
    pub agent: String,
    /// The models that it offers.
    pub offer: Offer,
}

/// Scratch directories of runs that were killed are removed after this.
const OLD_SCRATCH: Duration = Duration::from_secs(24 * 60 * 60);

/// Enough of a random name that two runs never share one.
const TOKEN_CHARS: usize = 16;

impl Run {
    /// Runs one prompt: starts the agent, serves it the tools, sends the text once it is there, and
    /// returns the answer. However this ends, also by being dropped, the tools are gone and the agent
    /// is killed. `text` is awaited while the agent starts; `None` is a stop.
    ///
    /// # Errors
    ///
    /// Whatever kept the agent from finishing, in its own words where it gave any.
    pub async fn prompt(
        self,
        launch: &Launch,
        prompt: Prompt,
        text: impl Future<Output = Option<String>> + Send,
        events: mpsc::Sender<Event>,
    ) -> Result<String, AcpError> {
        let started = self.start(launch, &prompt).await?;
        let server = match prompt.tools.clone() {
            Some(tools) => Some(ToolServer::start(tools, &prompt.sockets, &started.token)?),
            None => None,
        };
        let Started { process, ends, prepared, token, scratch } = started;
        let servers: Vec<_> =
            server.iter().map(|server| server.entry(&prompt.shim, &token)).collect();
        let wire = Wire::new(ends.stdout, ends.stdin);
        let mut talk =
            Talk::new(&self, launch.recipe, prompt.limits, wire, server.as_ref(), events);
        let talked = async {
            let session = json!({"cwd": prepared.scratch, "mcpServers": servers});
            let ready = async {
                talk.initialize(prompt.version).await?;
                let offer = talk.begin(session, &prepared.session).await?;
                talk.set_model(&offer, prompt.model.as_deref()).await
            };
            let text = async { text.await.ok_or(AcpError::Stopped) };
            let ((), text) = tokio::try_join!(ready, text)?;
            talk.prompt(&text).await
        };
        let answer = talked.await;
        drop(server);
        let said = process.end().await;
        drop(scratch);
        answer.map_err(|error| with_said(error, said))
    }

    /// Starts the agent, asks for its session and its models, and ends it. Sends no prompt.
    ///
    /// # Errors
    ///
    /// Whatever keeps the agent from starting, its missing sign-in included.
    pub async fn check(self, launch: &Launch, prompt: Prompt) -> Result<Checked, AcpError> {
        let Started { process, ends, prepared, scratch, .. } = self.start(launch, &prompt).await?;
        // Nobody listens: what is found is returned.
        let (events, _) = mpsc::channel(1);
        let wire = Wire::new(ends.stdout, ends.stdin);
        let mut talk = Talk::new(&self, launch.recipe, prompt.limits, wire, None, events);
        let checked = async {
            let agent = talk.initialize(prompt.version).await?;
            let session = json!({"cwd": prepared.scratch, "mcpServers": []});
            let offer = talk.begin(session, &prepared.session).await?;
            Ok(Checked { agent, offer })
        };
        let checked = checked.await;
        let said = process.end().await;
        drop(scratch);
        checked.map_err(|error| with_said(error, said))
    }

    async fn start(&self, launch: &Launch, prompt: &Prompt) -> Result<Started, AcpError> {
        let folder = prompt.cache.join(launch.recipe.id);
        let failed = |source| AcpError::Scratch { dir: folder.clone(), source };
        let mut token = random().map_err(failed)?;
        token.truncate(TOKEN_CHARS);
        let scratch = Scratch(folder.join(&token));
        let names = prompt.tools.as_ref().map(|tools| tools.names()).unwrap_or_default();
        let prepared = {
            let (launch, dir, folder) = (launch.clone(), scratch.0.clone(), folder.clone());
            tokio::task::spawn_blocking(move || {
                remove_old(&folder);
                launch.prepare(&dir, SERVER, &names)
            })
            .await
            .map_err(|error| failed(std::io::Error::other(error)))??
        };
        if self.over().is_cancelled() {
            return Err(AcpError::Stopped);
        }
        let (process, ends) = Process::start(&prepared, &token)?;
        Ok(Started { process, ends, prepared, token, scratch })
    }
}

struct Started {
    process: Process,
    ends: Ends,
    prepared: Prepared,
    token: String,
    scratch: Scratch,
}

/// What the agent wrote on its error output belongs to an end that it did not explain.
fn with_said(error: AcpError, said: String) -> AcpError {
    match error {
        AcpError::Gone { agent, said: own } if own.is_empty() => AcpError::Gone { agent, said },
        AcpError::Silent { agent, seconds, said: own } if own.is_empty() => {
            AcpError::Silent { agent, seconds, said }
        }
        error => error,
    }
}

fn remove_old(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|about| about.modified()).ok();
        let age = age.and_then(|at| at.elapsed().ok()).unwrap_or_default();
        if age > OLD_SCRATCH {
            drop(Scratch(entry.path()));
        }
    }
}
