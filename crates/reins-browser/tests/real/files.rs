//! Downloads and uploads, as far as containment allows them.

use crate::support::{Page, World, done, refused};
use reins_browser::{Containment, DownloadState, Downloads};
use reins_core::Action;

const FILES: &str = r#"<a href="/report">Download report</a><label>Upload file <input type=file id=up></label><label>Several <input type=file multiple id=many></label>
<button onclick="document.getElementById('veiled').click()">Choose file</button><input type=file id=veiled style="display:none"><p id=st>none</p>
<script>for(const i of document.querySelectorAll('input'))i.addEventListener('change',async e=>{const t=await e.target.files[0].text();hit('up_'+e.target.id+'_'+e.target.files.length+'_'+t.length)})</script>"#;

#[tokio::test]
async fn r176_downloads_are_refused_unless_a_directory_is_given() {
    let world = World::start([
        ("/", Page::html(FILES)),
        ("/report", Page::download("report.csv", "a,b\n".repeat(1_500))),
    ])
    .await;
    done(&world.go("/").await);
    let acted = world.click("Download report").await;
    let effects = done(&acted);
    assert_eq!(effects.downloads[0].state, DownloadState::Refused);
    assert!(effects.refused.join(" ").contains("report.csv"), "{effects:?}");
    assert!(world.info().unwrap().url.ends_with('/'), "the page stays");
}

#[tokio::test]
async fn a_download_is_saved_under_its_name_and_reported_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let containment =
        Containment { downloads: Downloads::Into(dir.path().to_owned()), ..Containment::default() };
    let world = World::contained(
        [
            ("/", Page::html(FILES)),
            ("/report", Page::download("report.csv", "a,b\n".repeat(1_500))),
        ],
        containment,
    )
    .await;
    done(&world.go("/").await);
    for name in ["report.csv", "report (1).csv"] {
        let acted = world.click("Download report").await;
        let effects = done(&acted);
        assert_eq!(effects.downloads.len(), 1, "{effects:?}");
        let download = &effects.downloads[0];
        assert_eq!(download.state, DownloadState::Finished);
        let path = dir.path().join(name);
        assert_eq!(download.path.as_deref(), Some(path.as_path()));
        assert_eq!(std::fs::read(&path).unwrap().len(), 6_000);
        assert_eq!(download.bytes, 6_000);
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing else is left there");
}

#[tokio::test]
async fn files_are_given_to_fields_and_to_choosers() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one.txt"), dir.path().join("two.txt"));
    std::fs::write(&one, "u".repeat(1_234)).unwrap();
    std::fs::write(&two, "v").unwrap();
    let containment =
        Containment { upload_roots: vec![dir.path().to_owned()], ..Containment::default() };
    let world = World::contained([("/", Page::html(FILES))], containment).await;
    done(&world.go("/").await);
    let upload = async |name: &str, files: Vec<std::path::PathBuf>| {
        let target = world.record(name).await;
        world.act(Action::Upload { target, files }).await
    };
    done(&upload("Upload file", vec![one.clone()]).await);
    assert!(world.hit("up_up_1_1234").await);
    done(&upload("Several", vec![one.clone(), two.clone()]).await);
    assert!(world.hit("up_many_2_1234").await);
    done(&upload("Choose file", vec![two.clone()]).await);
    assert!(world.hit("up_veiled_1_1").await);
    refused(&upload("Upload file", vec!["/etc/hostname".into()]).await, "upload_outside");
}

/// R-176: a chooser that nobody asked for opens nothing, and is told.
#[tokio::test]
async fn r176_a_file_chooser_is_never_opened() {
    let world = World::start([("/", Page::html(FILES))]).await;
    done(&world.go("/").await);
    let acted = world.click("Choose file").await;
    assert!(done(&acted).refused.join(" ").contains("file"), "{acted:?}");
    done(&world.click("Download report").await);
}
