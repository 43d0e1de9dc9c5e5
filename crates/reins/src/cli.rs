//! Subcommands and their flags.

use crate::browser_flags::BrowserFlags;
use crate::exit;
use crate::record::Keep;
use clap::{Args, Parser, Subcommand, ValueEnum};
use reins_core::{SecretKind, SecretName};
use reins_models::{Format, Reasoning};
use reins_store::{ConversationName, ProviderName};
use std::path::PathBuf;
use std::process::ExitCode;

/// Lets a language model use a real browser, and keeps the reins in your hand.
#[derive(Debug, Parser)]
#[command(name = "reins", version, propagate_version = true)]
pub(crate) struct Cli {
    /// Show the details of steps, and log more to stderr (-v, -vv)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a browser to a coding agent over MCP on stdin and stdout
    Mcp(McpArgs),
    /// Do a task in a browser, asking before anything risky
    Run(Box<RunArgs>),
    /// Go on with a run that was cut off, or with a conversation
    Resume(crate::resume::ResumeArgs),
    /// Show, follow, export and delete what is kept of earlier runs
    Runs(crate::runs::RunsArgs),
    /// Check what Reins needs, one line each, with the remedy
    Doctor(DoctorArgs),
    /// Say how to install what is missing, or install it with --yes
    Install(InstallArgs),
    /// Run the whole street once on a bundled demo shop with a scripted model
    Demo(DemoArgs),
    /// Say what may happen on a site without asking, or never
    Rules(RulesArgs),
    /// Keep sign-ins that the agent may use by name and never sees
    Secrets(SecretsArgs),
    /// Keep model providers with their keys, check them and see their models
    Providers(ProvidersArgs),
    /// Show, check and set up the coding agents that `reins run --agent` can use
    Agents(AgentsArgs),
    /// What an installed agent starts as its MCP server
    #[command(hide = true)]
    McpShim,
    /// Call every tool by hand, without a model (needs REINS_DEBUG=1)
    #[command(hide = true)]
    Debug(DebugArgs),
    /// Print the tool reference
    Docs,
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a folder
    Man(crate::manual::ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) browser: BrowserFlags,
    /// Ask before a click that nothing can be told about, instead of about what it sends
    #[arg(long)]
    pub(crate) strict_clicks: bool,
    /// Which tools to list: `core` (default), `inspect`, `all`, or names, joined by commas
    #[arg(long, value_name = "LIST", default_value = "core")]
    pub(crate) tools: String,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to do, in your own words
    pub(crate) task: String,
    /// Where to start
    #[arg(long)]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) browser: BrowserFlags,
    /// Ask before a click that nothing can be told about, instead of about what it sends
    #[arg(long)]
    pub(crate) strict_clicks: bool,
    /// The model, as `provider/model`, just a provider or just a model name
    #[arg(long, env = "REINS_MODEL")]
    pub(crate) model: Option<String>,
    /// An OpenAI-compatible server, such as http://127.0.0.1:8080/v1
    #[arg(long, env = "REINS_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// Let an installed agent do it: claude, codex, gemini, cursor, copilot, opencode, goose or qwen;
    /// --model then names one of its models
    #[arg(long, value_name = "NAME", conflicts_with = "reasoning")]
    pub(crate) agent: Option<String>,
    /// Where that agent's program is (default: on the PATH of your login shell)
    #[arg(long, value_name = "FILE", requires = "agent")]
    pub(crate) agent_path: Option<PathBuf>,
    /// Let any other program do it that speaks ACP on stdin and stdout; quote a path with spaces
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["agent", "reasoning"])]
    pub(crate) agent_command: Option<String>,
    /// How much the model thinks before each step, where it can be told
    #[arg(long, value_name = "HOW_MUCH")]
    pub(crate) reasoning: Option<ReasoningWord>,
    #[command(flatten)]
    pub(crate) thinking: crate::thinking::ThinkingArgs,
    /// Print events as JSON lines on stdout, for scripts; cards are then refused
    #[arg(long)]
    pub(crate) json: bool,
    /// With --json: corrections on stdin as JSON lines, such as {"correct": "…"} or {"stop": true}
    #[arg(long, conflicts_with_all = ["agent", "agent_command"])]
    pub(crate) input: bool,
    /// Give the model a text or a picture with the task (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "agent_command"])]
    pub(crate) attach: Vec<PathBuf>,
    /// Call the conversation by a name; the next run with it goes on from there
    #[arg(long, value_name = "NAME", conflicts_with_all = ["agent", "agent_command"])]
    pub(crate) session: Option<ConversationName>,
    /// What is kept of the run, on this machine only
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["agent", "agent_command"])]
    pub(crate) keep: Keep,
    /// The most that the run may cost, in dollars, such as 0.50
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) allow_cost: Option<reins_models::Cost>,
    /// How many tokens the model reads at most, if that is not usual for its kind
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u64>,
    /// Tool calls allowed in this turn
    #[arg(long, default_value_t = reins_core::limits::CALLS_PER_TURN)]
    pub(crate) steps: u32,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) browser: BrowserFlags,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Run the commands instead of naming them
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) browser: BrowserFlags,
    /// The person's words, which name sites as a task would
    #[arg(long)]
    pub(crate) says: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Set the rule of one site (a bare host means https; port and scheme count)
    Add {
        /// What it says
        rule: RuleWord,
        /// Such as shop.example or http://localhost:3000
        site: String,
    },
    /// Say where the pages of one site may send to while the agent acts in them
    Sends {
        /// Such as shop.example or http://localhost:3000
        site: String,
        /// To this site as well, all its hosts included; may be given several times
        #[arg(long = "to", value_name = "SITE", conflicts_with = "anywhere")]
        also: Vec<String>,
        /// To its own site, those you name and those of --to, whatever its pages loaded from before
        #[arg(long, conflicts_with = "anywhere")]
        only: bool,
        /// Anywhere
        #[arg(long, required_unless_present_any = ["also", "only"])]
        anywhere: bool,
    },
    /// Remove what is set for one site
    Remove {
        /// The site as `reins rules list` shows it
        site: String,
    },
    /// Show all rules
    List,
}

#[derive(Debug, Args)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    pub(crate) command: SecretsCommand,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Keep a value, typed without echo or piped in on stdin
    Set {
        /// What the agent calls it, such as work-login
        name: SecretName,
        /// The only site that it is typed into (a bare host means https; port and scheme count)
        #[arg(long, value_name = "SITE")]
        origin: String,
        /// Which fields it fits: password, code, payment or text
        #[arg(long, default_value_t = SecretKind::Password)]
        kind: SecretKind,
    },
    /// Forget a value
    Remove {
        /// Its name
        name: SecretName,
    },
    /// Show names, kinds and sites, never values
    List,
    /// Say where the key is that seals all of them, or move it
    Key {
        /// Where to: a file that only you can read, or the keyring of the system
        to: Option<KeyWord>,
    },
}

/// Where the key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyWord {
    /// A file beside the database
    File,
    /// The keyring of the system
    Keyring,
}

#[derive(Debug, Args)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    pub(crate) command: ProvidersCommand,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Check a provider and keep it; its key is typed without echo or piped in on stdin
    Add(ProviderArgs),
    /// Show what is kept and what the environment offers, never keys
    List,
    /// Check address and key of one provider, or of all that are kept
    Test {
        /// Its name; also a provider whose key is in the environment
        name: Option<ProviderName>,
    },
    /// Forget a provider and its key
    Remove {
        /// Its name
        name: ProviderName,
    },
    /// Ask a provider which models it has
    Models {
        /// Its name; also a provider whose key is in the environment
        name: ProviderName,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: AgentsCommand,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// Show which agents are installed; starts none
    List,
    /// Start an agent, or all that are installed, and show what is wrong or which models there are
    Doctor {
        /// Its name
        name: Option<String>,
        /// Also have its model call a harmless tool once, which may cost something
        #[arg(long)]
        echo: bool,
    },
    /// Keep where an agent is, or which model it uses; an empty word forgets it
    Set {
        /// Its name
        name: String,
        /// The absolute path of its program
        #[arg(long, value_name = "FILE")]
        path: Option<PathBuf>,
        /// One of its models, as `reins agents doctor` shows them
        #[arg(long)]
        model: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProviderArgs {
    /// What you call it: a provider such as anthropic, openai, gemini, openrouter, azure, mistral,
    /// deepseek, xai, groq, together, fireworks, ollama, lmstudio, llama-server or vllm; or any name,
    /// with --provider or --base-url
    pub(crate) name: ProviderName,
    /// Which provider it is, if the name does not say
    #[arg(long, value_name = "ID")]
    pub(crate) provider: Option<String>,
    /// Another address than the provider's own
    #[arg(long)]
    pub(crate) base_url: Option<String>,
    /// How it is spoken to: chat, responses, messages or gemini; usually known
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// The model to use when none is named
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Ask for no key
    #[arg(long)]
    pub(crate) no_key: bool,
    /// Keep it without asking the server whether address and key are right
    #[arg(long)]
    pub(crate) no_check: bool,
}

/// How much a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReasoningWord {
    /// As little as it can
    Off,
    /// Little
    Low,
    /// Some
    Medium,
    /// Much
    High,
}

impl From<ReasoningWord> for Reasoning {
    fn from(word: ReasoningWord) -> Self {
        match word {
            ReasoningWord::Off => Reasoning::Off,
            ReasoningWord::Low => Reasoning::Low,
            ReasoningWord::Medium => Reasoning::Medium,
            ReasoningWord::High => Reasoning::High,
        }
    }
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleWord {
    /// Steps that are not risky need no question
    Always,
    /// Nothing is opened or done there; reading stays free
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) browser: BrowserFlags,
    /// Only serve the shop and print its address
    #[arg(long)]
    pub(crate) serve: bool,
    /// Answer the demo's cards with yes, for a run without a person
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Ends the program as clap does for a word that is no subcommand.
pub(crate) fn unknown_subcommand(word: &str) -> ! {
    use clap::CommandFactory;
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let mut error = clap::Error::new(ErrorKind::InvalidSubcommand).with_cmd(&Cli::command());
    error.insert(ContextKind::InvalidSubcommand, ContextValue::String(word.to_owned()));
    error.exit()
}

/// Runs a subcommand on a runtime of its own.
pub(crate) fn dispatch(command: Command, detailed: bool) -> ExitCode {
    // Two workers: the server waits nearly always, and each worker costs memory.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return exit::failure(&anyhow::Error::from(error)),
    };
    let end = match command {
        Command::Mcp(args) => runtime.block_on(crate::mcp::main(args)),
        Command::Resume(args) => runtime.block_on(crate::resume::main(args, detailed)),
        Command::Runs(args) => runtime.block_on(crate::runs::main(args, detailed)),
        Command::Run(args) if args.agent.is_some() || args.agent_command.is_some() => {
            runtime.block_on(crate::agent_run::main(*args))
        }
        Command::Run(args) => runtime.block_on(crate::run::main(*args, detailed)),
        Command::Doctor(args) => runtime.block_on(crate::doctor::doctor(args)),
        Command::Install(args) => crate::doctor::install(&args),
        Command::Demo(args) => runtime.block_on(crate::demo::main(args)),
        Command::Rules(args) => runtime.block_on(crate::rules::main(args)),
        Command::Secrets(args) => runtime.block_on(crate::secrets::main(args)),
        Command::Providers(args) => runtime.block_on(crate::providers::main(args)),
        Command::Agents(args) => runtime.block_on(crate::agents::main(args)),
        Command::McpShim => runtime.block_on(crate::agents::shim()),
        Command::Debug(args) => runtime.block_on(crate::debug::main(args)),
        Command::Docs => crate::docs::print(),
        Command::Completions { shell } => crate::docs::completions(shell),
        Command::Man(args) => crate::manual::main(&args),
    };
    // A reader of stdin may still be blocked in a read; don't wait for it.
    runtime.shutdown_background();
    end.unwrap_or_else(|error| exit::failure(&error))
}
