//! Giving files to a page, from allowed directories only.

use super::pointer;
use super::refusals::{lost, not_asked, refused};
use super::settle::{self, After};
use super::step::{ASKING, Step};
use super::through::withdraw;
use crate::page_call::{call, object, release};
use crate::protocol::page::SetFiles;
use reins_core::{Modifiers, MouseButton, Outcome, Refusal, Sensitivity, TargetRecord};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// A button that opens a file chooser does so at once.
const CHOOSER: Duration = Duration::from_secs(2);

/// Gives files to a file field, or to the chooser that a button opens.
pub(crate) async fn upload(
    step: &mut Step<'_>,
    target: &TargetRecord,
    files: &[PathBuf],
) -> Outcome {
    let files = match confined(files, &step.tab.containment.upload_roots) {
        Ok(files) => files,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    let outcome = if target.sensitivity == Sensitivity::File {
        to_field(step, target, &files).await
    } else {
        to_chooser(step, target, &files).await
    };
    if matches!(outcome, Outcome::Completed) {
        step.changed = true;
        settle::after(step, After::Quiet(&target.node.frame)).await;
    }
    outcome
}

async fn to_field(step: &mut Step<'_>, target: &TargetRecord, files: &[String]) -> Outcome {
    let world = match step.world_of(&target.node) {
        Ok(world) => world,
        Err(error) => return not_asked(error),
    };
    // Called as two arguments: the number and the seal it must still have.
    let element = format!(
        "{},{})",
        call("element", &target.node.node.0).trim_end_matches(')'),
        serde_json::to_string(&target.seal).unwrap_or_default()
    );
    let object_id = match object(&world, &element, ASKING).await {
        Ok(Some(object_id)) => object_id,
        Ok(None) => {
            return refused(
                "stale_ref",
                "the field is gone or is no longer what was read",
                "Take a new snapshot and use its refs.",
            );
        }
        Err(error) => return not_asked(error),
    };
    let set = SetFiles { files, object_id: Some(&object_id), backend_node_id: None };
    let set = world.session.run(set, ASKING).await;
    release(&world.session, &object_id);
    match set {
        Ok(_) => Outcome::Completed,
        Err(error) => lost(&error),
    }
}

async fn to_chooser(step: &mut Step<'_>, target: &TargetRecord, files: &[String]) -> Outcome {
    let (clicked, token) =
        pointer::gesture(step, target, MouseButton::Left, 1, Modifiers::default()).await;
    withdraw(step, token);
    if !matches!(clicked, Outcome::Completed) {
        return clicked;
    }
    let since = step.since;
    let until = Instant::now() + CHOOSER;
    let chooser =
        step.tab.until(until, |state| state.chooser.take_if(|chooser| chooser.since > since)).await;
    let Some(chooser) = chooser else {
        step.notes.push("it was clicked, but no file chooser opened: no file was given".into());
        return refused(
            "no_file_field",
            "the element is no file field and opened no file chooser",
            "Use the ref of the file field.",
        );
    };
    if files.len() > 1 && !chooser.several {
        return refused("one_file", "the page takes one file only", "Give exactly one.");
    }
    let Some(node) = chooser.node else {
        return refused(
            "no_file_field",
            "the chooser belongs to no field that files could be given to",
            "Nothing was given.",
        );
    };
    let set = SetFiles { files, object_id: None, backend_node_id: Some(node) };
    match chooser.session.run(set, ASKING).await {
        Ok(_) => Outcome::Completed,
        Err(error) => lost(&error),
    }
}

/// The files' real paths, if all lie in allowed directories.
fn confined(files: &[PathBuf], roots: &[PathBuf]) -> Result<Vec<String>, Refusal> {
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    files.iter().map(|file| one(file, &roots)).collect()
}

fn one(file: &Path, roots: &[PathBuf]) -> Result<String, Refusal> {
    let shown = file.display();
    let real = file.canonicalize().map_err(|error| {
        Refusal::new("no_file", format!("{shown} cannot be read: {error}"), "Give another path.")
    })?;
    if !real.is_file() {
        return Err(Refusal::new("no_file", format!("{shown} is no file"), "Give a file's path."));
    }
    if !roots.iter().any(|root| real.starts_with(root)) {
        return Err(Refusal::new(
            "upload_outside",
            format!("{shown} lies outside the directories that files may be taken from"),
            "Give a file in an allowed directory.",
        ));
    }
    real.into_os_string().into_string().map_err(|_| {
        Refusal::new("no_file", "the file's name is no valid text", "Rename the file.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links are resolved before comparing.
    #[test]
    fn only_files_inside_the_roots_are_given() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let inside = root.path().join("a.txt");
        let secret = outside.path().join("secret");
        std::fs::write(&inside, "a").unwrap();
        std::fs::write(&secret, "s").unwrap();
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        let roots = vec![root.path().to_owned()];
        let code = |path: &Path| confined(&[path.to_owned()], &roots).map_err(|r| r.code);
        assert!(code(&inside).is_ok());
        assert_eq!(code(&secret), Err("upload_outside"));
        assert_eq!(code(&link), Err("upload_outside"));
        assert_eq!(code(&root.path().join("../x")), Err("no_file"));
        assert_eq!(code(root.path()), Err("no_file"));
        assert_eq!(confined(&[inside], &[]).map_err(|r| r.code), Err("upload_outside"));
    }
}
