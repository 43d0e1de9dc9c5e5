//! `docs/guard.md` lists what the evaluator does. The tables in it are printed here, from the
//! evaluator itself; with `REINS_BLESS=1` they are written into the page.

use crate::steps::{Group, HERE, Step, THERE, World, catalogue};
use reins_guard::{Basis, Decision, Level, RefusalCode, evaluate};
use std::fmt::Write;
use std::path::PathBuf;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guard.md")
}

fn word(world: &World, step: &Step) -> String {
    match evaluate(step.action.clone(), &world.facts(step)) {
        Decision::Allow(approved) if approved.basis() == Basis::Held => "holds".to_owned(),
        Decision::Allow(_) => "runs".to_owned(),
        Decision::Check(_) => "check".to_owned(),
        Decision::Plan(_) => "plan".to_owned(),
        Decision::Confirm(card) => format!("asks: {}", card.card().risk.code().replace('_', " ")),
        Decision::Block(_) => "refused".to_owned(),
    }
}

fn named(world: World) -> World {
    world.named(HERE).named(THERE)
}

/// One cell for two worlds.
fn both(named: String, unnamed: String) -> String {
    if named == unnamed { named } else { format!("{named} / {unnamed}") }
}

fn steps_table() -> String {
    let groups = [
        (Group::Look, "Looking, and the agent's own tabs"),
        (Group::Open, "Opening addresses"),
        (Group::Click, "Clicking"),
        (Group::Enter, "Filling in"),
        (Group::Keys, "Keys"),
        (Group::Frames, "Frames"),
        (Group::Tabs, "Elsewhere"),
    ];
    let mut table = String::new();
    for (group, title) in groups {
        let _ = writeln!(
            table,
            "### {title}\n\n| step | `auto` (named / not) | `careful` (named / not) | `ask` | pinned |\n|---|---|---|---|---|"
        );
        for step in catalogue().iter().filter(|step| step.group == group) {
            let at = |level| World::guarded(level).planned().holding(&[HERE]);
            let cell = |level| both(word(&named(at(level)), step), word(&at(level), step));
            let _ = writeln!(
                table,
                "| {} | {} | {} | {} | {} |",
                step.name,
                cell(Level::Auto),
                cell(Level::Careful),
                cell(Level::Ask),
                word(&World::pinned(), step),
            );
        }
        table.push('\n');
    }
    table
}

fn mcp_table() -> String {
    let mut table =
        "| step | `auto` (named / not) | `careful` (named / not) | `ask` |\n|---|---|---|---|\n"
            .to_owned();
    for step in catalogue().iter().filter(|step| step.name.contains("an address from nowhere")) {
        let at = |level| World::guarded(level).planned().behind_mcp();
        let cell = |level| both(word(&named(at(level)), step), word(&at(level), step));
        let cells = [Level::Auto, Level::Careful, Level::Ask].map(cell);
        let _ = writeln!(table, "| {} | {} |", step.name, cells.join(" | "));
    }
    table
}

fn refusals_table() -> String {
    let mut table = "| code | when |\n|---|---|\n".to_owned();
    for code in RefusalCode::ALL {
        let _ = writeln!(table, "| `{}` | {} |", code.as_str(), code.when());
    }
    table
}

/// The page with its tables as they have to be.
fn renewed(page: &str) -> String {
    [("steps", steps_table()), ("mcp", mcp_table()), ("refusals", refusals_table())]
        .into_iter()
        .fold(page.to_owned(), |page, (name, table)| {
            let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
            let Some((head, rest)) = page.split_once(&open) else { panic!("no place for {name}") };
            let Some((_, tail)) = rest.split_once(&close) else { panic!("no end of {name}") };
            format!("{head}{open}\n\n{}\n\n{close}{tail}", table.trim_end())
        })
}

/// The reference page says what the guard does.
#[test]
fn the_reference_page_lists_what_the_evaluator_does() {
    let path = page();
    let page = std::fs::read_to_string(&path).expect("docs/guard.md");
    let renewed = renewed(&page);
    if std::env::var_os("REINS_BLESS").is_some() {
        std::fs::write(&path, &renewed).expect("the page is written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/guard.md");
    assert!(
        written == renewed,
        "docs/guard.md is out of date; run the test again with REINS_BLESS=1 and read the change"
    );
}

/// Each kind of step is on the risky list in the page exactly if it asks at every level.
#[test]
fn r149_to_r153_the_page_marks_the_whole_risky_list() {
    for step in catalogue().iter().filter(|step| step.risky) {
        for level in Level::ALL {
            let word = word(&named(World::guarded(level).planned()), step);
            assert!(word.starts_with("asks") || word == "refused", "{}: {word}", step.name);
        }
    }
}
