//! From a name to a program that can be started.

use crate::environment::environment;
use crate::error::AcpError;
use crate::own_servers;
use crate::place;
use crate::probe::{Probe, given};
use crate::recipe::{Prepared, Recipe, Situation, Start};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the person said otherwise than the recipe.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Where the agent's own program is. For an agent with an adapter this is the program below it,
    /// never npx (R-085).
    pub path: Option<PathBuf>,
    /// The whole command, for an agent without a recipe.
    pub command: Option<String>,
}

/// An agent that was found.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) recipe: &'static Recipe,
    /// What is started.
    pub program: PathBuf,
    args: Vec<String>,
    /// The agent's own program below an adapter, and the variable that says so.
    below: Option<(&'static str, PathBuf)>,
    path: OsString,
}

impl Launch {
    /// Finds an agent's program, by what was given or on the login shell's PATH. Starts nothing of
    /// the agent (R-068).
    ///
    /// # Errors
    ///
    /// Says what is missing, and how to get it.
    pub async fn find(
        recipe: &'static Recipe,
        overrides: &Overrides,
        probe: &Probe,
    ) -> Result<Self, AcpError> {
        let at = match &overrides.path {
            Some(path) => Some(given(path.clone()).await?),
            None => None,
        };
        let found = async |program: &'static str, install: &str| {
            probe.find(program).await.ok_or_else(|| AcpError::Missing {
                agent: recipe.name.to_owned(),
                program: program.to_owned(),
                install: install.to_owned(),
            })
        };
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let (program, args, below) = match recipe.start {
            Start::Own { program, args } => {
                let program = match at {
                    Some(at) => at,
                    None => found(program, recipe.install).await?,
                };
                (program, own(args), None)
            }
            Start::Adapter { package, version, program, variable } => {
                let below = match at {
                    Some(at) => at,
                    None => found(program, recipe.install).await?,
                };
                let npx = found("npx", NODE).await?;
                let args = own(&["--yes", &format!("{package}@{version}")]);
                (npx, args, Some((variable, below)))
            }
            Start::Command => {
                let command = overrides.command.as_deref().unwrap_or_default();
                let mut words = words(command).into_iter();
                let program = words.next().unwrap_or_default();
                (given(program.into()).await?, words.collect(), None)
            }
        };
        Ok(Self { recipe, program, args, below, path: probe.path().await.to_owned() })
    }

    /// The recipe.
    pub fn recipe(&self) -> &'static Recipe {
        self.recipe
    }

    /// The agent's own program: below an adapter if there is one.
    pub fn own_program(&self) -> &Path {
        self.below.as_ref().map_or(&self.program, |(_, program)| program)
    }

    /// Makes the scratch directory ready and puts everything together. Touches files.
    pub(crate) fn prepare(
        &self,
        scratch: &Path,
        server: &str,
        tools: &[String],
    ) -> Result<Prepared, AcpError> {
        let mut all = environment(std::env::vars_os(), self.recipe.keeps, &self.path);
        let own_servers = match &self.recipe.own_servers {
            Some(place) => own_servers::names(place, &all),
            None => Vec::new(),
        };
        let situation = Situation { scratch, server, tools, own_servers: &own_servers };
        let settings = (self.recipe.settings)(&situation);
        place::fresh(scratch, &settings.files)?;
        all.extend(settings.environment.iter().map(|(n, v)| (n.into(), v.into())));
        if let Some((variable, program)) = &self.below {
            all.push(((*variable).into(), program.into()));
        }
        Ok(Prepared {
            program: self.program.clone(),
            args: self.args.iter().chain(&settings.args).cloned().collect(),
            environment: all,
            scratch: scratch.to_owned(),
            session: settings.session,
        })
    }
}

const NODE: &str =
    "Its adapter runs on Node.js: install Node.js 22 or newer from https://nodejs.org";

/// A command's words: blanks divide, quotes hold together, a backslash takes the next as it is.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut begun, mut quote) = (Vec::new(), String::new(), false, None);
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                begun = true;
            }
            (None | Some('"'), '\\') => {
                word.extend(rest.next());
                begun = true;
            }
            (None, c) if c.is_whitespace() => {
                if std::mem::take(&mut begun) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (_, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::{CUSTOM, recipe, recipes};
    use std::os::unix::fs::PermissionsExt;

    fn program(dir: &Path, name: &str) -> PathBuf {
        let file = dir.join(name);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn commands_are_divided_as_people_quote_them() {
        assert_eq!(words("'/My Tools/agent' --acp"), ["/My Tools/agent", "--acp"]);
        assert_eq!(words(r#"  /a\ b "c 'd' \"e\"" '' f"g"h "#), ["/a b", "c 'd' \"e\"", "", "fgh"]);
        assert!(words("  ").is_empty());
    }

    /// R-085: Codex and Claude go through npx and one fixed version; a path is for what is below.
    #[tokio::test]
    async fn r085_adapters_have_one_version_and_a_path_is_for_the_program_below() {
        let dir = tempfile::tempdir().unwrap();
        let (npx, codex) = (program(dir.path(), "npx"), program(dir.path(), "codex"));
        let elsewhere = program(dir.path(), "my-codex");
        let probe = Probe::with_path(dir.path());
        let codex_recipe = recipe("codex").unwrap();
        let launch = Launch::find(codex_recipe, &Overrides::default(), &probe).await.unwrap();
        assert_eq!((&launch.program, launch.own_program()), (&npx, codex.as_path()));
        assert!(
            launch.args[1].rsplit_once('@').unwrap().1.split('.').all(|n| n.parse::<u32>().is_ok())
        );
        let overrides = Overrides { path: Some(elsewhere.clone()), command: None };
        let launch = Launch::find(codex_recipe, &overrides, &probe).await.unwrap();
        assert_eq!((&launch.program, launch.own_program()), (&npx, elsewhere.as_path()));
        let scratch = dir.path().join("scratch");
        let prepared = launch.prepare(&scratch, "s", &[]).unwrap();
        assert!(prepared.environment.contains(&("CODEX_PATH".into(), elsewhere.into())));
        std::fs::remove_file(npx).unwrap();
        let error = Launch::find(codex_recipe, &overrides, &probe).await.unwrap_err();
        assert!(
            error.code() == "agent_missing" && error.to_string().contains("Node.js"),
            "{error}"
        );
    }

    /// What is missing is said with how to get it, for each agent.
    #[tokio::test]
    async fn what_is_missing_is_said_with_the_remedy() {
        let empty = tempfile::tempdir().unwrap();
        let probe = Probe::with_path(empty.path());
        for recipe in recipes() {
            let error = Launch::find(recipe, &Overrides::default(), &probe).await.unwrap_err();
            assert!(
                error.code() == "agent_missing" && error.to_string().contains(recipe.install),
                "{error}"
            );
        }
        let overrides = Overrides { command: Some("agent --acp".into()), path: None };
        let error = Launch::find(&CUSTOM, &overrides, &probe).await.unwrap_err();
        assert_eq!(error.code(), "agent_path");
    }

    /// A server of the person's own that is called like ours is not switched off: ours is.
    fn server_of_ours() -> String {
        "our_server".to_owned()
    }

    /// R-086: MCP servers of the person's own configuration do not start beside ours.
    #[test]
    fn r086_codex_starts_no_server_of_its_own_configuration() {
        let scratch = tempfile::tempdir().unwrap();
        let set = (recipe("codex").unwrap().settings)(&Situation {
            scratch: scratch.path(),
            server: "our_server",
            tools: &[],
            own_servers: &["docs".to_owned(), "a.b".to_owned(), server_of_ours()],
        });
        let (_, config) = set.environment.iter().find(|(name, _)| name == "CODEX_CONFIG").unwrap();
        let all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(config).unwrap();
        let named: Vec<&String> = all.keys().filter(|key| key.starts_with("mcp_servers")).collect();
        // The order counts: what switches one off stands behind the table.
        assert_eq!(named, ["mcp_servers", "mcp_servers.docs.enabled"]);
        assert_eq!(all["mcp_servers.docs.enabled"], false);
        let (table, off) = (config.find("\"mcp_servers\""), config.find("mcp_servers.docs"));
        assert!(table < off, "{config}");
    }

    /// R-086: no recipe leaves a shell, files or the web to the agent without saying how it is off;
    /// settings that are JSON are JSON.
    #[test]
    fn r086_settings_are_well_formed_and_name_only_our_server() {
        let base = tempfile::tempdir().unwrap();
        let tools = vec!["click".to_owned()];
        for recipe in recipes() {
            let scratch = base.path().join(recipe.id);
            let set = (recipe.settings)(&Situation {
                scratch: &scratch,
                server: "our_server",
                tools: &tools,
                own_servers: &["docs".to_owned(), server_of_ours()],
            });
            for (name, value) in &set.environment {
                if value.starts_with('{') {
                    serde_json::from_str::<serde_json::Value>(value)
                        .unwrap_or_else(|e| panic!("{name}: {e}"));
                }
            }
            for (name, content) in &set.files {
                assert!(!name.starts_with('/') && !name.contains(".."), "{name}");
                serde_json::from_str::<serde_json::Value>(content)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            assert!(!recipe.off.is_empty() && !recipe.sign_in.is_empty());
        }
    }
}
