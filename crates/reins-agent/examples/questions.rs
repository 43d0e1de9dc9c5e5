//! Asks closed questions of a model server, for `bench/eval/run questions`.
//!
//! Reads one question per line from stdin, such as `{"question": "control_effect", "item": "Send"}`, with
//! `words` for the person's own words and `seen` for text of pages, and writes one answer per line. Lines
//! of the same words are asked together, at most as many as the second argument says.

use reins_agent::limits::{SEEN_BYTES, WORDS_BYTES};
use reins_agent::questions::{QUESTIONS, Questions, Slot, Subject, Who};
use reins_models::{CUSTOM, Endpoint, Http, ModelClient};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    reins_models::install_crypto();
    let mut arguments = std::env::args().skip(1);
    let base = arguments.next().ok_or("usage: questions BASE_URL [TOGETHER] [MODEL]")?;
    let together: usize = arguments.next().map_or(Ok(1), |number| number.parse())?;
    let model = arguments.next().unwrap_or_else(|| "model".to_owned());
    let endpoint = Endpoint::at(&CUSTOM, &base, None)?;
    let model = Arc::new(ModelClient::new(&Http::new(None)?, endpoint, model));
    let questions = Questions::new(None, model);
    let lines: Result<Vec<String>, _> = stdin().lock().lines().collect();
    let lines: Result<Vec<Value>, _> =
        lines?.iter().map(|line| serde_json::from_str(line)).collect();
    for chunk in lines?.chunk_by(|a, b| a["words"] == b["words"] && a["seen"] == b["seen"]) {
        for asked in chunk.chunks(together.max(1)) {
            ask(&questions, asked).await?;
        }
    }
    Ok(())
}

async fn ask(questions: &Questions, lines: &[Value]) -> Result<(), Box<dyn Error>> {
    let mut subject = Subject::new();
    if let Some(words) = lines[0]["words"].as_str() {
        subject = subject.words("The person wrote", words, WORDS_BYTES);
    }
    for (label, text) in lines[0]["seen"].as_object().into_iter().flatten() {
        let label = if label == "answer" { "The answer" } else { "The results" };
        subject = subject.seen(label, text.as_str().unwrap_or_default(), SEEN_BYTES);
    }
    let slot = |line: &Value| {
        let name = line["question"].as_str().unwrap_or_default();
        let question = QUESTIONS.iter().find(|question| question.name == name);
        let question = question.ok_or_else(|| format!("there is no question {name:?}"))?;
        Ok(Slot { question, item: line["item"].as_str().map(str::to_owned) })
    };
    let slots: Result<Vec<Slot>, Box<dyn Error>> = lines.iter().map(slot).collect();
    let begun = Instant::now();
    let answers =
        questions.ask_all(&subject, &slots?, Who::Anyone, None, &CancellationToken::new()).await;
    let took = begun.elapsed().as_millis() / lines.len().max(1) as u128;
    let used = questions.take_spent();
    for answer in answers {
        let line = match answer {
            Ok(answer) => json!({
                "choice": answer.choice.word, "confidence": answer.confidence, "quote": answer.quote,
                "ms": took, "input": used.usage.input, "cached": used.usage.cached,
            }),
            Err(none) => json!({"none": none.word(), "ms": took, "input": used.usage.input}),
        };
        writeln!(stdout().lock(), "{line}")?;
    }
    Ok(())
}
