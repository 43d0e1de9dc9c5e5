//! `reins providers`: keys go in, are used, and are never shown.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_models::testing::{Answer, ModelServer};
use serde_json::{Value, json};
use std::path::Path;

const KEY: &str = "sk-hunter2";

/// Nothing of this machine, so that only what a test sets counts.
const NOWHERE: [(&str, &str); 1] = [("OLLAMA_HOST", "127.0.0.1:1")];

async fn providers(
    data: &Path,
    args: &[&str],
    env: &[(&'static str, String)],
    input: &str,
) -> (i32, String) {
    let (data, input) = (data.to_owned(), input.to_owned());
    let args: Vec<String> = ["providers"].iter().chain(args).map(|a| (*a).to_owned()).collect();
    let env = env.to_vec();
    // The program runs beside the server that it asks.
    tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let env = env.iter().map(|(name, value)| (*name, value.as_str()));
        let env: Vec<(&str, &str)> = NOWHERE.into_iter().chain(env).collect();
        support::run(&data, &args, &env, &input)
    })
    .await
    .unwrap()
}

fn list(models: &[&str]) -> Answer {
    let models: Vec<Value> = models.iter().map(|id| json!({"id": id})).collect();
    Answer::json(200, &json!({"data": models}))
}

/// Everything in the folder, as bytes.
fn on_disk(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect()
}

/// a provider is checked with its key, kept sealed, listed without it, and asked
/// for its models; the kept model always appears.
#[tokio::test(flavor = "multi_thread")]
async fn r028_a_provider_is_checked_kept_listed_and_removed() {
    let home = tempfile::tempdir().unwrap();
    let data = &home.path().join("reins");
    let server = ModelServer::start(vec![
        list(&["a"]),
        list(&["a", "b"]),
        list(&["a"]),
        Answer::json(500, &Value::Null),
    ])
    .await
    .unwrap();
    let base = format!("{}/chat/completions", server.base());
    let add = ["add", "work", "--base-url", &base, "--model", "mine"];
    let (code, said) = providers(data, &add, &[], &format!("{KEY}\n")).await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&server.base()) && !said.contains("hunter2"), "{said}");
    assert_eq!(server.seen()[0].headers["authorization"], format!("Bearer {KEY}").as_str());
    assert!(!on_disk(data).windows(KEY.len()).any(|window| window == KEY.as_bytes()));

    let (_, said) = providers(data, &["list"], &[], "").await;
    let line = said.lines().next().unwrap();
    for word in ["work", "key kept", "chat", "mine", &server.base(), "used when none is named"] {
        assert!(line.contains(word), "{word}: {said}");
    }
    assert!(!said.contains("hunter2") && server.seen().len() == 1, "a list asks nobody");

    let (code, said) = providers(data, &["models", "work"], &[], "").await;
    assert_eq!((code, said.as_str()), (0, "mine\na\nb\n"));
    let (code, said) = providers(data, &["test"], &[], "").await;
    assert_eq!((code, said.as_str()), (0, "work: address and key are right\n"));
    let (code, said) = providers(data, &["models", "work"], &[], "").await;
    assert!(code == 1 && said.starts_with("mine\n"), "R-026 {said}");

    assert_eq!(providers(data, &["remove", "work"], &[], "").await.0, 0);
    let (code, said) = providers(data, &["remove", "work"], &[], "").await;
    assert!(code == 1 && said.contains("no provider work"), "{said}");
}

/// what does not work is told before it is kept, and kept only if the person insists.
#[tokio::test(flavor = "multi_thread")]
async fn r031_a_wrong_key_or_address_is_told_and_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path();
    let wrong = || Answer::json(401, &json!({"error": {"message": format!("bad {KEY}")}}));
    let server = ModelServer::start(vec![wrong(), wrong()]).await.unwrap();
    let base = server.base();
    let add = ["add", "work", "--base-url", &base];
    let (code, said) = providers(data, &add, &[], KEY).await;
    assert!(code == 1 && said.contains("refuses the key") && said.contains("Nothing was kept"));
    assert!(!said.contains("hunter2"), "{said}");
    for (args, input, reason) in [
        (&["add", "work", "--base-url", "http://192.168.1.5/v1"][..], KEY, "use https"),
        (&["add", "work", "--base-url", "https://u:p@h/v1"], KEY, "user name or password"),
        (&["add", "work", "--base-url", "https://h/v1?k=1"], KEY, "'?'"),
        (&["add", "work"], KEY, "--base-url"),
        (&["add", "azure"], KEY, "AZURE_OPENAI_ENDPOINT"),
        (&["add", "a/b", "--base-url", "https://h/v1"], KEY, "cannot name a provider"),
        (&["add", "openai"], "two words", "that is no key"),
        (&["add", "openai"], "\n", "empty"),
        (&["add", "work", "--provider", "nobody"], KEY, "no provider 'nobody'"),
        (&["test", "work"], "", "no provider work"),
    ] {
        let (code, said) = providers(data, args, &[], input).await;
        assert!(code != 0 && said.contains(reason), "{args:?}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("u:p"), "{said}");
    }
    assert!(!providers(data, &["list"], &[], "").await.1.contains("work"));
    let insists = [&add[..], &["--no-check"]].concat();
    assert_eq!(providers(data, &insists, &[], KEY).await.0, 0);
    let (code, said) = providers(data, &["test", "work"], &[], "").await;
    assert!(code == 1 && said.contains("wrong_key") && !said.contains("hunter2"), "{said}");
}

/// What the environment offers is shown and can be used by its name, without keeping it.
#[tokio::test(flavor = "multi_thread")]
async fn the_environment_is_listed_and_asked_too() {
    let home = tempfile::tempdir().unwrap();
    let server = ModelServer::start(vec![list(&["qwen"])]).await.unwrap();
    let address = server.address().to_owned();
    let env = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("OLLAMA_HOST", address)];
    let (_, said) = providers(home.path(), &["list"], &env, "").await;
    assert!(said.contains("(ANTHROPIC_API_KEY)") && said.contains("qwen"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

/// A run uses what is kept, by its name or because it was kept last, in the format it was kept with.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_uses_the_kept_provider_with_its_key() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path();
    let refuses = || Answer::json(401, &json!({"error": {"message": "no"}}));
    let server = ModelServer::start(vec![refuses(), refuses(), refuses()]).await.unwrap();
    let base = server.base();
    let add = |name: &'static str, format: &'static str| {
        let base = base.clone();
        async move {
            let args = ["add", name, "--base-url", &base, "--format", format, "--no-check"];
            providers(data, &args, &[], &format!("{KEY}-{name}")).await
        }
    };
    assert_eq!(add("first", "messages").await.0, 0);
    assert_eq!(add("last", "responses").await.0, 0);
    for model in ["m", "first/m", "last/m"] {
        let (data, args) =
            (data.to_owned(), ["run", "--headless", "--json", "--model", model, "hi"]);
        let run = move || support::run(&data, &args, &NOWHERE, "");
        let (code, said) = tokio::task::spawn_blocking(run).await.unwrap();
        assert!(code == 1 && said.contains("wrong_key"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    let seen = server.seen();
    let asked: Vec<_> = seen.iter().map(|seen| (seen.path.as_str(), &seen.body["model"])).collect();
    let model = &json!("m");
    assert_eq!(
        asked,
        [("/v1/responses", model), ("/v1/messages", model), ("/v1/responses", model)]
    );
    assert_eq!(seen[0].headers["authorization"], format!("Bearer {KEY}-last").as_str());
    assert_eq!(seen[1].headers["x-api-key"], format!("{KEY}-first").as_str());
}
