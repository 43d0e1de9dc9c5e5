//! Conversations from the command line: continued by name, listed, shown, exported, deleted; files that
//! go with a task; and what is never kept.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_models::testing::{Answer, ModelServer};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::path::Path;

/// Runs the program beside the servers that it asks.
async fn reins(data: &Path, args: &[&str]) -> (i32, String) {
    let data = data.to_owned();
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        support::run(&data, &args, &[], "")
    })
    .await
    .unwrap()
}

fn events(said: &str) -> Vec<Value> {
    said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Everything in the folder, as bytes.
fn is_on_disk(folder: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let bytes: Vec<u8> =
        files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A model on this machine is first asked for its steps.
fn says(text: &str) -> [Answer; 2] {
    [Answer::text("None."), Answer::text(text)]
}

/// W-462, W-070: a conversation goes on by its name, and what is kept of it is listed, replayed whole
/// from the first entry, exported with the versions, and deleted without a trace.
#[tokio::test(flavor = "multi_thread")]
async fn w070_a_conversation_goes_on_by_name_and_is_replayed() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let script = says("It is **Tuesday**.").into_iter().chain(says("Wednesday."));
    let server = ModelServer::start(script.collect()).await.unwrap();
    let base = server.base();
    let run = |task: &'static str| {
        let base = base.clone();
        async move {
            let args = ["run", task, "--session", "days", "--json", "--base-url", &base];
            reins(data, &[&args[..], &["--model", "m"]].concat()).await
        }
    };
    let (code, said) = run("which day is it").await;
    assert_eq!(code, 0, "{said}");
    let (code, said) = run("and tomorrow, lighthouse keeper").await;
    assert_eq!(code, 0, "{said}");
    let seen = server.seen();
    let last = seen.last().unwrap().body["messages"].to_string();
    for words in ["which day is it", "**Tuesday**", "lighthouse keeper"] {
        assert!(last.contains(words), "{words}: {last}");
    }
    let heard = events(&said);
    let id = heard[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(heard.last().unwrap()["run"], id.as_str());

    let (_, listed) = reins(data, &["runs", "list"]).await;
    assert_eq!(listed.lines().count(), 1, "{listed}");
    for word in [&id, "done", "[days]", "which day is it"] {
        assert!(listed.contains(word), "{word}: {listed}");
    }
    let (code, shown) = reins(data, &["runs", "show", "days", "--json"]).await;
    let replayed = events(&shown);
    assert_eq!(code, 0);
    for (at, entry) in replayed.iter().enumerate() {
        assert_eq!(entry["seq"], at + 1, "every entry, once: {shown}");
    }
    let kinds: Vec<&str> = replayed.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "person").count(), 2, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "end").count(), 2, "{kinds:?}");
    // W-460: requests are kept in numbers.
    let request = replayed.iter().find(|entry| entry["kind"] == "request").unwrap();
    assert!(request["system_chars"].as_u64().unwrap() > 0, "{request}");

    let (_, shown) = reins(data, &["runs", "show", &id[..4]]).await;
    assert!(shown.contains("> which day is it") && shown.contains("Wednesday."), "{shown}");
    let (_, exported) = reins(data, &["runs", "export", "days"]).await;
    let version = format!("reins {}", env!("CARGO_PKG_VERSION"));
    assert!(exported.contains(&format!("recorded by {version}, exported by {version}")));
    let out = data.join("counts.json");
    let file = out.to_str().unwrap();
    let export = ["runs", "export", "days", "--format", "json", "--privacy", "counts", "-o", file];
    assert_eq!(reins(data, &export).await.0, 0);
    let counts: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(counts["recorded_by"], version.as_str());
    assert!(!counts.to_string().contains("lighthouse"), "{counts}");

    let (code, said) = reins(data, &["resume", "days"]).await;
    assert!(code == 1 && said.contains("that run is done"), "{said}");
    assert!(is_on_disk(data, "lighthouse"));
    let (code, said) = reins(data, &["runs", "delete", "days"]).await;
    assert_eq!((code, said), (0, format!("{id} is deleted\n")));
    assert!(!is_on_disk(data, "lighthouse"));
    let (code, said) = reins(data, &["resume"]).await;
    assert!(code == 1 && said.contains("no run waits"), "{said}");
}

/// Files go with the task as the person's own material, and stay in the conversation.
#[tokio::test(flavor = "multi_thread")]
async fn attached_files_reach_the_model_and_stay() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let script = says("A mug.").into_iter().chain(says("Still a mug."));
    let server = ModelServer::start(script.collect()).await.unwrap();
    let base = server.base();
    let (list, photo) = (data.join("list.txt"), data.join("photo.png"));
    std::fs::write(&list, "three mugs").unwrap();
    std::fs::write(&photo, b"\x89PNG\r\n\x1a\nrest").unwrap();
    let common = ["--session", "s", "--json", "--base-url", &base, "--model", "m"];
    let files = ["--attach", list.to_str().unwrap(), "--attach", photo.to_str().unwrap()];
    let first = [&["run", "what is it"][..], &common, &files].concat();
    let (code, said) = reins(data, &first).await;
    assert_eq!(code, 0, "{said}");
    let (code, said) = reins(data, &[&["run", "and now"][..], &common].concat()).await;
    assert_eq!(code, 0, "{said}");
    for at in [1, 3] {
        let seen = server.seen();
        let sent = seen[at].body["messages"].to_string();
        assert!(sent.contains("three mugs") && sent.contains("list.txt"), "{at}: {sent}");
        assert_eq!(sent.matches("data:image/png;base64,iVBORw0KGgpyZXN0").count(), 1, "{sent}");
    }
    let refused = [&["run", "x"][..], &common, &["--attach", "/nothing/here"]].concat();
    let (code, said) = reins(data, &refused).await;
    assert!(code == 1 && said.contains("/nothing/here could not be read"), "{said}");
    assert_eq!(events(&said)[0]["exit"], 1, "a script hears of it: {said}");
}

/// a password that the person wrote and the model typed is in no file afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn r131_a_typed_password_is_not_kept() {
    let form = "<form><label>Password <input type=password></label></form>";
    let site = Site::start([("/", Page::html(form))]).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let typing = json!({"ref": "e1", "text": "hunter2-\"xyz"});
    let script = vec![
        Answer::text("None."),
        Answer::calls(&[("type", typing)]),
        Answer::text("I typed hunter2-\"xyz."),
    ];
    let server = ModelServer::start(script).await.unwrap();
    let app = format!("http://127.0.0.1:{}", site.port());
    let args = [
        "run",
        "type the password hunter2-\"xyz",
        "--json",
        "--headless",
        "--url",
        &site.url("/"),
        "--app",
        &app,
        "--base-url",
        &server.base(),
        "--model",
        "m",
    ];
    let (code, said) = reins(data.path(), &args).await;
    assert_eq!(code, 0, "{said}");
    let steps: Vec<Value> =
        events(&said).into_iter().filter(|event| event["event"] == "step_started").collect();
    assert!(steps.iter().any(|step| step["tool"] == "type"), "{said}");
    assert!(!Value::from(steps).to_string().contains("hunter2"), "{said}");
    assert!(!is_on_disk(data.path(), "hunter2"), "kept");
    let (_, listed) = reins(data.path(), &["runs", "list"]).await;
    assert!(listed.contains("type the password [redacted]"), "{listed}");
    // Nothing at all is kept where the person wants that.
    let nothing = [&args[..], &["--keep", "nothing"]].concat();
    let before = reins(data.path(), &["runs", "list"]).await.1;
    reins(data.path(), &nothing).await;
    assert_eq!(reins(data.path(), &["runs", "list"]).await.1, before);
}

/// The manual has every command, and the codes that docs/run.md lists.
#[tokio::test]
async fn the_manual_and_the_completions_know_every_command() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("man1");
    let (code, _) = reins(data.path(), &["man", "--dir", folder.to_str().unwrap()]).await;
    assert_eq!(code, 0);
    for name in ["reins.1", "reins-run.1", "reins-runs-export.1", "reins-resume.1"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert!(!folder.join("reins-debug.1").exists());
    let (_, page) = reins(data.path(), &["man", "run"]).await;
    assert!(page.contains(".TH REINS-RUN") && page.contains("attach"), "{page}");
    let guide = include_str!("../../../docs/run.md");
    let status = page.split("EXIT STATUS").nth(1).unwrap();
    for line in guide.lines().skip_while(|line| *line != "## Exit codes").take(12) {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let (Some(code), Some(meaning)) = (cells.next(), cells.next()) else { continue };
        if code.parse::<u8>().is_ok() {
            assert!(status.contains(&format!("\n{code}\n{meaning}")), "{line}\n{status}");
        }
    }
    let (_, script) = reins(data.path(), &["completions", "bash"]).await;
    assert!(script.contains("resume") && script.contains("--attach"));
    assert_eq!(reins(data.path(), &["run", "x", "--no-such-flag"]).await.0, 2);
}
