//! `--attach`: files that the person gives to the model with the task.

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reins_models::{Image, Part};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

/// More text would crowd out the pages: a window of 128k tokens holds about twice this.
const TEXT_BYTES: usize = 256 * 1024;

/// The strictest of the providers takes no larger picture.
const IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// Every request carries them again.
const FILES: usize = 10;

/// All together; requests of 32 MiB and more are refused by some providers, and base64 adds a third.
const TOTAL_BYTES: usize = 20 * 1024 * 1024;

/// One file, as it is kept with the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attachment {
    /// Its name, without the folders.
    pub(crate) name: String,
    /// What kind of file, such as `image/png`.
    pub(crate) mime: String,
    /// A text as it is, a picture in base64.
    pub(crate) content: String,
}

/// Reads the files.
pub(crate) fn read(paths: &[impl AsRef<Path>]) -> Result<Vec<Attachment>> {
    if paths.len() > FILES {
        bail!("at most {FILES} files can be attached");
    }
    let mut total = 0;
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let (bytes, file) = read_one(path)?;
        total += bytes;
        if total > TOTAL_BYTES {
            bail!("the attached files are larger than {} MB together", TOTAL_BYTES >> 20);
        }
        files.push(file);
    }
    Ok(files)
}

fn read_one(path: &Path) -> Result<(usize, Attachment)> {
    let shown = path.display();
    let file = std::fs::File::open(path).with_context(|| format!("{shown} could not be read"))?;
    let regular = file.metadata().is_ok_and(|data| data.is_file());
    if !regular {
        bail!("{shown} is no file; attach the files themselves");
    }
    let mut bytes = Vec::new();
    // One byte more tells that there is more.
    file.take(IMAGE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("{shown} could not be read"))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    if let Some(mime) = picture(&bytes) {
        if bytes.len() > IMAGE_BYTES {
            bail!("{shown} is larger than {} MB; attach a smaller picture", IMAGE_BYTES >> 20);
        }
        let content = STANDARD.encode(&bytes);
        return Ok((bytes.len(), Attachment { name, mime: mime.to_owned(), content }));
    }
    if bytes.len() > TEXT_BYTES {
        bail!(
            "{shown} is larger than {} KB and no picture; attach the part that matters",
            TEXT_BYTES >> 10
        );
    }
    match String::from_utf8(bytes) {
        Ok(content) if !content.contains('\0') => {
            Ok((content.len(), Attachment { name, mime: "text/plain".to_owned(), content }))
        }
        _ => bail!("{shown} is neither text nor a PNG, JPEG, GIF or WebP picture"),
    }
}

/// Pictures that models take, by their first bytes.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

impl Attachment {
    /// As the model sees it: the person's own material, marked by its name.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let name = crate::terminal::plain(&self.name);
        if self.mime == "text/plain" {
            let text = format!(
                "The user attached the file \"{name}\":\n-----\n{}\n----- (end of \"{name}\")",
                self.content
            );
            return vec![Part::Text(text)];
        }
        let Ok(bytes) = STANDARD.decode(&self.content) else {
            return vec![Part::Text(format!("(The attached picture \"{name}\" is damaged.)"))];
        };
        let said = Part::Text(format!("The user attached the picture \"{name}\":"));
        vec![said, Part::Image(Image { mime: self.mime.clone(), bytes: bytes.into() })]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    #[test]
    fn texts_and_pictures_are_told_by_what_is_in_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = file(folder.path(), "list.png", "Mug, 2 pieces é".as_bytes());
        let png = b"\x89PNG\r\n\x1a\nrest";
        let picture = file(folder.path(), "photo.txt", png);
        let read = read(&[text, picture]).expect("attached");
        let parts = read[0].parts();
        let Part::Text(said) = &parts[0] else { panic!("{parts:?}") };
        assert!(said.contains("list.png") && said.contains("Mug, 2 pieces é"), "{said}");
        let parts = read[1].parts();
        let Part::Image(image) = &parts[1] else { panic!("{parts:?}") };
        assert_eq!((image.mime.as_str(), &image.bytes[..]), ("image/png", &png[..]));
    }

    #[test]
    fn what_no_model_could_use_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str, bytes: &[u8]| file(folder.path(), name, bytes);
        let long = at("long.txt", &vec![b'a'; TEXT_BYTES + 1]);
        let mut huge = b"\xff\xd8\xff".to_vec();
        huge.resize(IMAGE_BYTES + 1, 0);
        for (path, reason) in [
            (long, "larger than 256 KB"),
            (at("huge.jpg", &huge), "larger than 5 MB"),
            (at("program", b"\x7fELF\0\0"), "neither text nor"),
            (at("zeros", b"a\0b"), "neither text nor"),
            (folder.path().to_owned(), "no file"),
            (folder.path().join("nothing"), "could not be read"),
        ] {
            let error = read(&[path]).expect_err(reason);
            assert!(format!("{error:#}").contains(reason), "{error:#}");
        }
        let small = at("small.txt", b"a");
        assert!(read(&vec![small; FILES + 1]).is_err());
    }
}
