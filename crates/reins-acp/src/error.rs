//! Everything that can go wrong with an installed agent.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What ended a run, or kept it from starting. The agent's own words are in the message where it
/// gave any.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AcpError {
    /// No row of the table has this name.
    #[error(
        "'{0}' is no agent that Reins knows; `reins agents list` names them, and --agent-command runs any other"
    )]
    Unknown(String),
    /// Its program is not on the PATH of the login shell.
    #[error(
        "{agent} is not installed: '{program}' was not found on the PATH of your login shell. {install}"
    )]
    Missing {
        /// The agent's name.
        agent: String,
        /// What was looked for.
        program: String,
        /// How to get it.
        install: String,
    },
    /// A path that was given is no program.
    #[error("{} is not usable: {reason}. Give the absolute path of a program", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
    /// The scratch directory, or a file in it, could not be made.
    #[error("the agent's scratch directory {} could not be made ready; check its rights and the space left", dir.display())]
    Scratch {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The program did not start.
    #[error("{} could not be started; `reins agents doctor` looks closer", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The tools of the run could not be served.
    #[error("the tools could not be served to the agent; check the rights of {}", dir.display())]
    Serve {
        /// Where the socket was to be.
        dir: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It speaks something else.
    #[error("{agent} does not speak ACP version 1 ({reason}); update it, or check the command")]
    Protocol {
        /// The agent's name.
        agent: String,
        /// What was seen.
        reason: String,
    },
    /// No word, thought or tool call in time.
    #[error(
        "{agent} did not answer within {seconds} seconds{said}. Start it by itself once to see whether it works, then try again"
    )]
    Silent {
        /// The agent's name.
        agent: String,
        /// How long was waited.
        seconds: u64,
        /// What it wrote on its error output, if anything.
        said: String,
    },
    /// It wants its own sign-in first.
    #[error("{agent} is not signed in: {words}. {remedy}")]
    SignIn {
        /// The agent's name.
        agent: String,
        /// Its own words.
        words: String,
        /// How to sign in.
        remedy: &'static str,
    },
    /// It reported a failure, in its own words.
    #[error("{agent} reports: {words}")]
    Failed {
        /// The agent's name.
        agent: String,
        /// Its own words.
        words: String,
    },
    /// The turn ended for another reason than that it was done.
    #[error("{agent} ended without finishing ({reason}){words}")]
    Unfinished {
        /// The agent's name.
        agent: String,
        /// The stop reason as it was sent.
        reason: String,
        /// What it said last, if anything.
        words: String,
    },
    /// It asked for a permission that it does not get and left no way to say no.
    #[error(
        "{agent} asked for something that it may not do here and offered no way to refuse it, so it was stopped"
    )]
    NoWayToRefuse {
        /// The agent's name.
        agent: String,
    },
    /// Its process ended in the middle.
    #[error(
        "{agent} ended in the middle of its work{said}. What it did until then stays done; look before you start it again"
    )]
    Gone {
        /// The agent's name.
        agent: String,
        /// What it wrote last, if anything.
        said: String,
    },
    /// The model that was asked for is not offered.
    #[error("{agent} offers no model '{wanted}'. It offers: {offered}")]
    NoSuchModel {
        /// The agent's name.
        agent: String,
        /// What was asked for.
        wanted: String,
        /// What there is.
        offered: String,
    },
    /// The run was stopped, or a newer one took its place.
    #[error("the run was stopped; nothing more is sent")]
    Stopped,
    /// The shim was started by something else than an agent of a run.
    #[error(
        "`reins mcp-shim` is started by the agent of a run and cannot be used by hand; use `reins mcp` in an agent's own configuration"
    )]
    NotInRun,
    /// The shim did not reach its run.
    #[error(
        "the run that this belongs to is over, or does not know us; start a new one with `reins run --agent`"
    )]
    RunOver(#[source] io::Error),
}

impl AcpError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "agent_unknown",
            Self::Missing { .. } => "agent_missing",
            Self::Path { .. } => "agent_path",
            Self::Scratch { .. } => "agent_scratch",
            Self::Start { .. } => "agent_start",
            Self::Serve { .. } => "agent_tools",
            Self::Protocol { .. } => "agent_protocol",
            Self::Silent { .. } => "agent_silent",
            Self::SignIn { .. } => "agent_sign_in",
            Self::Failed { .. } => "agent_failed",
            Self::Unfinished { .. } => "agent_unfinished",
            Self::NoWayToRefuse { .. } => "agent_no_refusal",
            Self::Gone { .. } => "agent_gone",
            Self::NoSuchModel { .. } => "agent_model",
            Self::Stopped => "agent_stopped",
            Self::NotInRun => "agent_shim",
            Self::RunOver(_) => "agent_run_over",
        }
    }
}
