//! Pictures without secrets: fields that hold a password, a code or payment data are painted over
//! before a picture leaves this room.

use crate::act::point_in_tab;
use crate::error::BrowserError;
use crate::page_call::{AskError, ask};
use crate::tab::Tab;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, Rgb, RgbImage};
use serde::Deserialize;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

/// A frame that does not say in this time where its secrets are gives no picture.
const TOLD: Duration = Duration::from_secs(2);

/// Painted around the box too: borders and shadows tell how long a value is.
const MARGIN: f64 = 1.0;

/// The colour of what was left out: neither black nor white, so that it shows on every page.
const COVER: Rgb<u8> = Rgb([128, 128, 128]);

/// A box that must not be seen, in CSS pixels of the tab's viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mask {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    /// It stays in place on the screen while the page scrolls.
    pub(crate) fixed: bool,
}

/// Where secrets are, and how wide the tab's viewport is with its scroll bar, in CSS pixels.
#[derive(Default)]
pub(crate) struct Masks {
    pub(crate) boxes: Vec<Mask>,
    pub(crate) wide: f64,
}

/// What a frame says.
#[derive(Deserialize)]
struct Frame {
    boxes: Vec<Told>,
    wide: f64,
}

/// A box in a frame's own viewport.
#[derive(Deserialize)]
struct Told {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    fixed: bool,
}

/// Where the fields with secrets are now, in all frames.
///
/// # Errors
/// A frame does not say: then nobody knows what a picture would show.
pub(crate) async fn masks(tab: &Arc<Tab>) -> Result<Masks, BrowserError> {
    let (main, worlds): (_, Vec<_>) = {
        let state = tab.state();
        let worlds = state.worlds.iter().map(|(frame, world)| (frame.clone(), world.clone()));
        (state.main.clone(), worlds.collect())
    };
    // All are asked before the first answer is awaited.
    let asked: Vec<_> = worlds
        .iter()
        .map(|(frame, world)| (frame, ask(world, "__reins.masks()", false, TOLD)))
        .collect();
    let mut found = Masks::default();
    for (frame, asked) in asked {
        let told = match asked.answer::<Option<Frame>>().await {
            Ok(Some(told)) => told,
            // The document is gone, and its fields with it.
            Err(AskError::Replaced) => continue,
            Ok(None) | Err(_) => return Err(untold()),
        };
        if *frame == main {
            found.wide = told.wide;
        }
        for at in told.boxes {
            let begin = point_in_tab(tab, frame, at.x, at.y).await;
            let end = point_in_tab(tab, frame, at.x + at.width, at.y + at.height).await;
            // A frame without a place in the tab shows nothing.
            let (Ok(begin), Ok(end)) = (begin, end) else { continue };
            found.boxes.push(Mask {
                left: begin.0.min(end.0) - MARGIN,
                top: begin.1.min(end.1) - MARGIN,
                right: begin.0.max(end.0) + MARGIN,
                bottom: begin.1.max(end.1) + MARGIN,
                fixed: at.fixed,
            });
        }
    }
    Ok(found)
}

fn untold() -> BrowserError {
    BrowserError::Page {
        what: "no picture was taken: a part of the page does not answer, so nobody can tell whether a \
               secret would be in it; take a snapshot, or try again"
            .into(),
    }
}

/// The part of the page that a picture shows, in CSS pixels of the tab's viewport.
pub(crate) struct Shown {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
}

/// Paints the boxes over. `quality` is that of a JPEG; without it the picture is a PNG.
///
/// # Errors
/// The picture cannot be read or written: it must not leave as it is.
pub(crate) fn cover(
    picture: &[u8],
    quality: Option<u8>,
    masks: &[Mask],
    shown: &Shown,
) -> Result<Vec<u8>, BrowserError> {
    let format = if quality.is_some() { ImageFormat::Jpeg } else { ImageFormat::Png };
    let unreadable = |_| BrowserError::Page {
        what: "the picture could not be freed of secrets, so it is not given; try again".into(),
    };
    let mut image =
        image::load_from_memory_with_format(picture, format).map_err(unreadable)?.into_rgb8();
    let ratio = f64::from(image.width()) / shown.width.max(1.0);
    for mask in masks {
        fill(&mut image, mask, shown, ratio);
    }
    let mut out = Vec::with_capacity(picture.len());
    match quality {
        Some(quality) => JpegEncoder::new_with_quality(&mut out, quality).encode_image(&image),
        None => image.write_to(&mut Cursor::new(&mut out), ImageFormat::Png),
    }
    .map_err(unreadable)?;
    Ok(out)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the picture's own size"
)]
fn fill(image: &mut RgbImage, mask: &Mask, shown: &Shown, ratio: f64) {
    let (width, height) = image.dimensions();
    let along = |value: f64, limit: u32| (value * ratio).clamp(0.0, f64::from(limit)) as u32;
    let left = along((mask.left - shown.left).floor(), width);
    let right = along((mask.right - shown.left).ceil(), width);
    let top = along((mask.top - shown.top).floor(), height);
    let bottom = along((mask.bottom - shown.top).ceil(), height);
    for y in top..bottom {
        for x in left..right {
            image.put_pixel(x, y, COVER);
        }
    }
}
