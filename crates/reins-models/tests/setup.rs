//! Finding, listing and checking model servers.

#![expect(clippy::expect_used, reason = "tests")]

use reins_core::Secret;
use reins_models::testing::{Answer, ModelServer, Piece};
use reins_models::{
    CUSTOM, Endpoint, Format, Http, ModelError, ModelLists, PROVIDERS, Provider, check, discover,
};
use serde_json::{Value, json};

const KEY: &str = "sk-hunter2";

fn http() -> Http {
    Http::new(None).expect("http")
}

fn endpoint(base: &str) -> Endpoint {
    Endpoint::at(&CUSTOM, base, Some(Secret::new(KEY.to_owned()))).expect("endpoint")
}

fn list(models: &[&str]) -> Answer {
    let models: Vec<Value> =
        models.iter().map(|id| json!({"id": id, "owned_by": "llamacpp"})).collect();
    Answer::json(200, &json!({"object": "list", "data": models}))
}

fn paths(server: &ModelServer) -> Vec<String> {
    server.seen().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
}

fn code(result: &Result<(), ModelError>) -> &'static str {
    result.as_ref().map_or_else(ModelError::code, |()| "ok")
}

/// the endpoints, the key, the cache, and the saved model.
#[tokio::test]
async fn r023_r025_r026_model_lists() {
    let failure = Answer::json(500, &Value::Null);
    let server =
        ModelServer::start(vec![failure.clone(), failure, list(&["a", "b"]), list(&["c"])])
            .await
            .expect("server");
    let (http, lists, endpoint) = (http(), ModelLists::default(), endpoint(&server.base()));
    let failed = lists.get(&http, "p", &endpoint, None).await.expect_err("the server fails");
    assert_eq!(failed.code(), "server_failed");
    let saved = lists.get(&http, "p", &endpoint, Some("mine")).await.expect("the saved one");
    assert_eq!(saved, ["mine"]);
    let fetched = lists.get(&http, "p", &endpoint, Some("b")).await.expect("list");
    assert_eq!(fetched, ["a", "b"], "failures are not kept");
    let kept = lists.get(&http, "p", &endpoint, Some("mine")).await.expect("list");
    assert_eq!(kept, ["mine", "a", "b"]);
    let other_profile = lists.get(&http, "q", &endpoint, None).await.expect("list");
    assert_eq!(other_profile, ["c"]);
    let seen = server.seen();
    assert_eq!(paths(&server), ["GET /v1/models"; 4]);
    assert!(
        seen.iter().all(|seen| seen.headers["authorization"] == format!("Bearer {KEY}").as_str())
    );
}

#[tokio::test]
async fn r023_anthropic_lists_elsewhere_with_its_own_header() {
    let server = ModelServer::start(vec![list(&["claude"])]).await.expect("server");
    let key = Some(Secret::new(KEY.to_owned()));
    let endpoint = Endpoint::at(&PROVIDERS[0], &server.base(), key).expect("endpoint");
    assert_eq!(endpoint.format, Format::Messages);
    let models = ModelLists::default().get(&http(), "p", &endpoint, None).await.expect("list");
    assert_eq!(models, ["claude"]);
    assert_eq!(server.seen()[0].headers["x-api-key"], KEY);
    assert_eq!(paths(&server), ["GET /v1/models?limit=1000"]);
}

/// a wrong key or address is reported at save time.
/// W-660: every provider is checked through one interface.
#[tokio::test]
async fn r028_r030_r031_connection_check() {
    let gone = || Answer::json(404, &json!({"detail": "Not Found"}));
    let web_page = || {
        Answer::pieces(vec![Piece::Bytes(b"<html>".to_vec())]).header("content-type", "text/html")
    };
    for (name, script, expected, asked) in [
        ("a list", vec![list(&["a"])], "ok", vec!["GET /v1/models"]),
        (
            "a wrong key",
            vec![Answer::json(401, &json!({"error": {"message": "no"}}))],
            "wrong_key",
            vec!["GET /v1/models"],
        ),
        (
            "no list but a chat",
            vec![gone(), Answer::text("H")],
            "ok",
            vec!["GET /v1/models", "POST /v1/chat/completions"],
        ),
        (
            "no list and a wrong key",
            vec![gone(), Answer::json(401, &Value::Null)],
            "wrong_key",
            vec!["GET /v1/models", "POST /v1/chat/completions"],
        ),
        (
            "a web site",
            vec![web_page(), web_page()],
            "wrong_address",
            vec!["GET /v1/models", "POST /v1/chat/completions"],
        ),
        (
            "elsewhere",
            vec![Answer::json(302, &Value::Null).header("location", "http://localhost:1/")],
            "redirected",
            vec!["GET /v1/models"],
        ),
    ] {
        let server = ModelServer::start(script).await.expect("server");
        let result = check(&http(), &endpoint(&server.base()), "m").await;
        assert_eq!(code(&result), expected, "{name}");
        assert_eq!(paths(&server), asked, "{name}");
    }
    let chat = ModelServer::start(vec![gone(), Answer::text("H")]).await.expect("server");
    check(&http(), &endpoint(&chat.base()), "m").await.expect("works");
    assert_eq!(chat.seen()[1].body["max_tokens"], json!(1));
}

#[tokio::test]
async fn a_forgotten_v1_is_named() {
    let gone = || Answer::json(404, &Value::Null);
    let server = ModelServer::start(vec![gone(), gone(), list(&["a"])]).await.expect("server");
    let bare = format!("http://{}", server.address());
    let error = check(&http(), &endpoint(&bare), "m").await.expect_err("wrong address");
    assert!(error.to_string().contains(&format!("{bare}/v1 answers")), "{error}");
}

/// The environment decides which; nothing is asked with a key before it is used.
#[tokio::test]
async fn keys_in_the_environment_are_found_in_order() {
    let discovery = discover(&http(), |name| match name {
        "OPENAI_API_KEY" => Some(format!(" {KEY}\n")),
        "ANTHROPIC_API_KEY" => Some("a".to_owned()),
        "MISTRAL_API_KEY" => Some(String::new()),
        "GOOGLE_API_KEY" => Some("g".to_owned()),
        // Nothing is to be found on this machine.
        "OLLAMA_HOST" => Some("127.0.0.1:1".to_owned()),
        _ => None,
    })
    .await;
    let own: Vec<_> = discovery.found.iter().filter(|found| !found.from.is_empty()).collect();
    let ids: Vec<_> = own.iter().map(|found| found.endpoint.provider.id).collect();
    assert_eq!(ids, ["anthropic", "openai", "gemini"]);
    assert_eq!(own[1].endpoint.key.as_ref().map(|key| key.expose().as_str()), Some(KEY));
    let model = own[0].model(&http()).await.expect("no request is needed");
    assert_eq!(
        own[0].sentence(&model),
        format!("using {model} from Anthropic (ANTHROPIC_API_KEY)")
    );
    assert!(!format!("{discovery:?}").contains("hunter2"));
    assert!(discovery.problems.is_empty());
}

#[tokio::test]
async fn an_own_server_in_the_environment_is_asked_for_its_models() {
    let server = ModelServer::start(vec![list(&["nomic-embed", "qwen"])]).await.expect("server");
    let base = server.base();
    let discovery = discover(&http(), |name| match name {
        "OPENAI_BASE_URL" => Some(format!("{base}/chat/completions")),
        "OLLAMA_HOST" => Some("127.0.0.1:1".to_owned()),
        _ => None,
    })
    .await;
    assert!(server.seen().is_empty(), "not before it is used");
    let found = &discovery.found[0];
    let model = found.model(&http()).await.expect("listed");
    assert_eq!(found.sentence(&model), format!("using qwen at {base} (OPENAI_BASE_URL)"));
    assert_eq!(found.endpoint.provider, &CUSTOM);
}

#[tokio::test]
async fn an_address_that_may_not_be_used_is_reported() {
    let discovery = discover(&http(), |name| match name {
        "OPENAI_BASE_URL" => Some("http://192.168.1.5/v1".to_owned()),
        "OPENAI_API_KEY" => Some(KEY.to_owned()),
        "OLLAMA_HOST" => Some("http://10.0.0.1:11434".to_owned()),
        _ => None,
    })
    .await;
    let problems: Vec<_> =
        discovery.problems.iter().map(|(name, error)| (*name, error.code())).collect();
    assert_eq!(problems, [("OPENAI_BASE_URL", "bad_address"), ("OLLAMA_HOST", "bad_address")]);
}

/// servers on this machine are found where they listen.
#[tokio::test]
async fn r018_a_server_on_this_machine_is_found() {
    let server =
        ModelServer::start(vec![list(&["bge-m3", "qwen2.5-coder:1.5b"])]).await.expect("server");
    let address = server.address().to_owned();
    let discovery =
        discover(&http(), |name| (name == "OLLAMA_HOST").then(|| address.clone())).await;
    let ollama = Provider::by_id("ollama").expect("row");
    let found =
        discovery.found.iter().find(|found| found.endpoint.provider == ollama).expect("found");
    let model = found.model(&http()).await.expect("known");
    assert_eq!(
        found.sentence(&model),
        format!("using qwen2.5-coder:1.5b from Ollama at http://{address}/v1")
    );
    assert!(!server.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn something_else_on_a_port_is_no_model_server() {
    for other in [
        Answer::json(200, &json!({"hello": "world"})),
        Answer::json(404, &Value::Null),
        Answer::text("hi"),
        list(&[]),
        list(&["bge-m3"]).cut_after(0, Piece::Hang),
    ] {
        let server = ModelServer::start(vec![other]).await.expect("server");
        let address = server.address().to_owned();
        let discovery =
            discover(&http(), |name| (name == "OLLAMA_HOST").then(|| address.clone())).await;
        assert!(discovery.found.iter().all(|found| found.endpoint.provider.id != "ollama"));
        assert_eq!(server.seen().len(), 1);
    }
}
