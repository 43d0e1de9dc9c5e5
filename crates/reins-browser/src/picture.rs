//! Options and results of pictures.

use reins_core::{DocumentId, NodeKey};

/// A picture is never larger than this: it must fit a message to a model.
pub const PICTURE_BYTES: usize = 900 * 1024;

/// No side of a picture is longer, in device pixels.
pub const PICTURE_SIDE: u32 = 4096;

/// What to take a picture of, and how.
#[derive(Clone, Debug, Default)]
pub struct ShotOptions {
    /// One element instead of the viewport.
    pub element: Option<NodeKey>,
    /// The whole page instead of the viewport.
    pub full_page: bool,
    /// The form of the picture.
    pub format: PictureFormat,
    /// At most this many bytes; `None` is [`PICTURE_BYTES`].
    pub max_bytes: Option<usize>,
}

/// The form of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureFormat {
    /// JPEG; its quality drops before the picture is given up.
    #[default]
    Jpeg,
    /// PNG; becomes JPEG if it would be too large.
    Png,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// `image/jpeg` or `image/png`.
    pub mime: &'static str,
    /// Width of what is shown, in CSS pixels.
    pub width: f64,
    /// Height of what is shown, in CSS pixels.
    pub height: f64,
    /// Viewport metrics at that moment.
    pub viewport: Viewport,
    /// The main document before the picture and after it: where they differ, it may show either.
    pub documents: [Option<DocumentId>; 2],
    /// What the caller should know, such as a cut or a lowered quality.
    pub notes: Vec<String>,
}

/// Where the viewport is, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Viewport {
    pub scroll_x: f64,
    pub scroll_y: f64,
    pub width: f64,
    pub height: f64,
    /// 1 is 100 %.
    pub zoom: f64,
}
