//! The table of agents.
//!
//! What switches an agent's own tools off differs by agent and changes with its versions. It is the
//! second layer: the permission rule holds without it.

use crate::permission::Identity;
use crate::recipe::{OwnServers, Recipe, Settings, Situation, Start};
use serde_json::{Value, json};

/// Telemetry switches that several agents heed.
const QUIET: &[(&str, &str)] =
    &[("DO_NOT_TRACK", "1"), ("NO_UPDATE_NOTIFIER", "1"), ("npm_config_update_notifier", "false")];

const AGENTS: &[Recipe] = &[
    Recipe {
        id: "claude",
        name: "Claude Code",
        start: Start::Adapter {
            package: "@agentclientprotocol/claude-agent-acp",
            version: "0.101.0",
            program: "claude",
            variable: "CLAUDE_CODE_EXECUTABLE",
        },
        identity: Identity::Claude,
        notices: false,
        keeps: &["CLAUDE_CONFIG_DIR"],
        sign_in: "Start `claude` once and sign in there.",
        install: "Get it from https://claude.com/claude-code",
        off: "all built-in tools; settings files, hooks and other MCP servers are not read",
        own_servers: None,
        settings: claude,
    },
    Recipe {
        id: "codex",
        name: "Codex",
        start: Start::Adapter {
            package: "@agentclientprotocol/codex-acp",
            version: "2.6.0",
            program: "codex",
            variable: "CODEX_PATH",
        },
        identity: Identity::Codex,
        notices: true,
        keeps: &["CODEX_HOME"],
        sign_in: "Run `codex login`.",
        install: "Get it with `npm install -g @openai/codex`",
        off: "shell, web search, image and sub-agent tools, apps, plugins, hooks; its sandbox is read-only",
        own_servers: Some(CODEX_SERVERS),
        settings: codex,
    },
    Recipe {
        id: "gemini",
        name: "Gemini CLI",
        start: Start::Own { program: "gemini", args: &["--acp"] },
        identity: Identity::None,
        notices: false,
        keeps: &["GEMINI_CLI_HOME"],
        sign_in: "Start `gemini` once and sign in there.",
        install: "Get it with `npm install -g @google/gemini-cli`",
        off: "all built-in tools and extensions; only our server of its MCP servers",
        own_servers: None,
        settings: gemini,
    },
    Recipe {
        id: "cursor",
        name: "Cursor",
        start: Start::Own { program: "cursor-agent", args: &["acp"] },
        identity: Identity::None,
        notices: false,
        keeps: &["CURSOR_CONFIG_DIR"],
        sign_in: "Run `cursor-agent login`.",
        install: "Get it from https://cursor.com/cli",
        off: "shell, reading, writing and fetching are denied by its own rules; our tools are allowed there",
        own_servers: None,
        settings: cursor,
    },
    Recipe {
        id: "copilot",
        name: "GitHub Copilot",
        start: Start::Own { program: "copilot", args: &["--acp"] },
        identity: Identity::None,
        notices: false,
        keeps: &["COPILOT_HOME"],
        sign_in: "Start `copilot` once and use its /login.",
        install: "Get it with `npm install -g @github/copilot`",
        off: "only our tools are available to its model; its built-in MCP servers are off",
        own_servers: None,
        settings: copilot,
    },
    Recipe {
        id: "opencode",
        name: "OpenCode",
        start: Start::Own { program: "opencode", args: &["acp"] },
        identity: Identity::None,
        notices: false,
        keeps: &[],
        sign_in: "Run `opencode auth login`, or name a model of your own in its configuration: its free models serve no other program.",
        install: "Get it with `npm install -g opencode-ai`",
        off: "an agent of ours in its configuration denies every tool but ours; plugins, language servers and sharing are off",
        own_servers: None,
        settings: opencode,
    },
    Recipe {
        id: "goose",
        name: "Goose",
        start: Start::Own { program: "goose", args: &["acp"] },
        identity: Identity::None,
        notices: false,
        keeps: &["GOOSE_PATH_ROOT"],
        sign_in: "Run `goose configure`.",
        install: "Get it from https://block.github.io/goose",
        off: "it asks before each tool, and every request is refused; its extensions stay as you set them",
        own_servers: None,
        settings: goose,
    },
    Recipe {
        id: "qwen",
        name: "Qwen Code",
        start: Start::Own { program: "qwen", args: &["--acp"] },
        identity: Identity::None,
        notices: false,
        keeps: &["QWEN_HOME"],
        sign_in: "Start `qwen` once and sign in there.",
        install: "Get it with `npm install -g @qwen-code/qwen-code`",
        off: "all built-in tools and extensions; only our server of its MCP servers",
        own_servers: None,
        settings: qwen,
    },
];

/// Any other program that speaks ACP.
pub static CUSTOM: Recipe = Recipe {
    id: "custom",
    name: "the agent",
    start: Start::Command,
    identity: Identity::None,
    notices: false,
    keeps: &[],
    sign_in: "Sign in with it first.",
    install: "Check the command",
    off: "nothing: Reins does not know it",
    own_servers: None,
    settings: custom,
};

/// All agents that Reins knows.
pub fn recipes() -> &'static [Recipe] {
    AGENTS
}

/// The agent of a name.
pub fn recipe(id: &str) -> Option<&'static Recipe> {
    AGENTS.iter().find(|recipe| recipe.id == id)
}

fn quiet(more: &[(&str, &str)]) -> Vec<(String, String)> {
    QUIET
        .iter()
        .chain(more)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// No built-in tool, no settings file (they can hold hooks, which are commands), no other server.
fn claude(_: &Situation<'_>) -> Settings {
    Settings {
        environment: quiet(&[
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ]),
        session: json!({"claudeCode": {"options": {
            "tools": [],
            "settingSources": [],
            "strictMcpConfig": true,
            "allowDangerouslySkipPermissions": false,
            "promptSuggestions": false,
        }}}),
        ..Settings::default()
    }
}

/// Where Codex keeps the MCP servers that it starts in every session.
const CODEX_SERVERS: OwnServers = OwnServers {
    variable: "CODEX_HOME",
    folder: ".codex",
    file: "config.toml",
    table: "mcp_servers",
};

fn codex(situation: &Situation<'_>) -> Settings {
    let off = [
        "apps",
        "browser_use",
        "browser_use_external",
        "browser_use_full_cdp_access",
        "code_mode",
        "code_mode_host",
        "sleep_tool",
        "skill_search",
        "tool_suggest",
        "view_image",
        "computer_use",
        "goals",
        "hooks",
        "image_generation",
        "in_app_browser",
        "memories",
        "multi_agent",
        "multi_agent_v2",
        "plugins",
        "remote_plugin",
        "shell_snapshot",
        "shell_tool",
        "skill_mcp_dependency_install",
        "standalone_web_search",
        "tool_search",
        "unified_exec",
        "web_search_cached",
        "web_search_request",
    ];
    let features: serde_json::Map<String, Value> =
        off.iter().map(|name| ((*name).to_owned(), false.into())).collect();
    let mut config = json!({
        "features": features,
        // The adapter puts ours here, in this place of the order.
        "mcp_servers": {},
        "web_search": "disabled",
        "tools": {"view_image": false},
        "include_apply_patch_tool": false,
        "include_plan_tool": false,
        "sandbox_mode": "read-only",
        "approval_policy": "on-request",
        "notify": [],
        "project_doc_max_bytes": 0,
        "history": {"persistence": "none"},
        "analytics": {"enabled": false},
        "feedback": {"enabled": false},
        "otel": {"exporter": "none"},
        "check_for_update_on_startup": false,
    });
    // Codex applies these in order, so each comes after the table. One called like ours is replaced by ours.
    let plain =
        |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    for name in situation.own_servers.iter().filter(plain) {
        if name != situation.server {
            config[format!("mcp_servers.{name}.enabled")] = Value::Bool(false);
        }
    }
    Settings {
        environment: quiet(&[
            ("CODEX_CONFIG", &config.to_string()),
            ("INITIAL_AGENT_MODE", "read-only"),
            ("NO_BROWSER", "1"),
        ]),
        ..Settings::default()
    }
}

/// Settings of the system win over the person's own; those of a project are not read where the
/// person does not trust its folder.
fn gemini(situation: &Situation<'_>) -> Settings {
    let settings = json!({
        // An allow list that names nothing there is.
        "tools": {"core": ["none"], "allowed": ours(situation)},
        "general": {"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false, "checkpointing": {"enabled": false}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "hooksConfig": {"enabled": false},
    });
    Settings {
        args: words(&[
            "--allowed-mcp-server-names",
            situation.server,
            "--extensions",
            "none",
            "--approval-mode",
            "default",
        ]),
        environment: quiet(&[
            ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &system_settings(situation)),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
            ("NO_BROWSER", "true"),
        ]),
        files: vec![(SYSTEM_SETTINGS.into(), settings.to_string())],
        ..Settings::default()
    }
}

/// The fork of the same program, with other names.
fn qwen(situation: &Situation<'_>) -> Settings {
    // Without its search for tools it shows ours to its model as they are.
    let own = [
        "agent",
        "ask_user_question",
        "enter_plan_mode",
        "enter_worktree",
        "exit_plan_mode",
        "exit_worktree",
        "get_goal",
        "list_agents",
        "record_artifact",
        "report_findings",
        "send_message",
        "skill",
        "task_stop",
        "todo_write",
        "tool_call",
        "tool_search",
        "update_goal",
    ];
    let settings = json!({
        "tools": {"core": ["none"], "exclude": own, "allowed": ours(situation), "approvalMode": "default"},
        "permissions": {"allow": ours(situation), "deny": own},
        "general": {"disableAutoUpdate": true, "enableAutoUpdate": false, "disableUpdateNag": true},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "disableAllHooks": true,
    });
    let mut args = words(&["--allowed-mcp-server-names", situation.server, "--extensions", "none"]);
    args.push("--exclude-tools".to_owned());
    args.extend(words(&own));
    args.push("--allowed-tools".to_owned());
    args.extend(ours(situation));
    Settings {
        args,
        environment: quiet(&[
            ("QWEN_CODE_SYSTEM_SETTINGS_PATH", &system_settings(situation)),
            ("QWEN_TELEMETRY_ENABLED", "false"),
            // Otherwise its first prompt goes out before it knows the tools of its servers.
            ("QWEN_CODE_LEGACY_MCP_BLOCKING", "1"),
        ]),
        files: vec![(SYSTEM_SETTINGS.into(), settings.to_string())],
        ..Settings::default()
    }
}

/// Where Gemini and Qwen are told to find the settings of the system.
const SYSTEM_SETTINGS: &str = ".settings.json";

fn system_settings(situation: &Situation<'_>) -> String {
    situation.scratch.join(SYSTEM_SETTINGS).to_string_lossy().into_owned()
}

/// Our tools by the names that this family of agents gives them.
fn ours(situation: &Situation<'_>) -> Vec<String> {
    let server = situation.server;
    situation.tools.iter().map(|tool| format!("mcp__{server}__{tool}")).collect()
}

/// Its own allow list calls our tools without asking, so no identity is needed.
fn cursor(situation: &Situation<'_>) -> Settings {
    let rules = json!({"permissions": {
        "allow": [format!("Mcp({}:*)", situation.server)],
        "deny": ["Shell(*)", "Read(**)", "Write(**)", "WebFetch(*)"],
    }});
    Settings {
        environment: quiet(&[]),
        files: vec![(".cursor/cli.json".into(), rules.to_string())],
        ..Settings::default()
    }
}

/// Names of tools of an MCP server are `server-tool` there; permission is given by server.
fn copilot(situation: &Situation<'_>) -> Settings {
    let server = situation.server;
    let available: Vec<_> = situation.tools.iter().map(|tool| format!("{server}-{tool}")).collect();
    let mut args = words(&[
        "--no-auto-update",
        "--disable-builtin-mcps",
        "--no-custom-instructions",
        "--no-ask-user",
    ]);
    args.push(format!("--available-tools={}", available.join(",")));
    args.push(format!("--allow-tool={server}"));
    args.extend(words(&["--deny-tool=shell,write,url"]));
    Settings {
        args,
        environment: quiet(&[("COPILOT_AUTO_UPDATE", "false")]),
        ..Settings::default()
    }
}

/// The person's own directories, for sign-in, providers and model; the sessions of a run stay in
/// the scratch directory. The person's rules may allow tools, so an agent of ours denies them,
/// whose rules are read last. Its file finder and watcher unpack native libraries and stay
/// off.
fn opencode(situation: &Situation<'_>) -> Settings {
    let ours = format!("{}_*", situation.server);
    let config = json!({
        "default_agent": "reins",
        "agent": {"reins": {
            "mode": "primary",
            "description": "Uses the browser of Reins and nothing else",
            "permission": {"*": "deny", &ours: "allow"},
            "tools": {"*": false, &ours: true},
        }},
        "autoupdate": false,
        "share": "disabled",
        "snapshot": false,
        "lsp": false,
        "formatter": false,
        "instructions": [],
    });
    Settings {
        environment: quiet(&[
            ("OPENCODE_CONFIG_CONTENT", &config.to_string()),
            ("OPENCODE_DB", &situation.scratch.join("opencode.db").to_string_lossy()),
            ("OPENCODE_PURE", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_SHARE", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
            ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
            ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
            ("OPENCODE_DISABLE_TERMINAL_TITLE", "1"),
            ("OPENCODE_DISABLE_FFF", "1"),
            ("OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER", "1"),
        ]),
        ..Settings::default()
    }
}

fn goose(_: &Situation<'_>) -> Settings {
    Settings {
        environment: quiet(&[
            ("GOOSE_MODE", "approve"),
            ("GOOSE_TELEMETRY_ENABLED", "false"),
            ("GOOSE_DISABLE_KEYRING_WARNING", "1"),
        ]),
        ..Settings::default()
    }
}

fn custom(_: &Situation<'_>) -> Settings {
    Settings { environment: quiet(&[]), ..Settings::default() }
}
