//! Pictures of a tab, within bounds; and a page as PDF.

use crate::act::point_in_tab;
use crate::browser::Browser;
use crate::error::BrowserError;
use crate::masks::{Mask, Shown, cover, masks};
use crate::page_call::{ask, wire_error};
use crate::picture::{PICTURE_BYTES, PICTURE_SIDE, Picture, PictureFormat, ShotOptions, Viewport};
use crate::protocol::page::{CaptureScreenshot, Clip, GetLayoutMetrics, LayoutMetrics, PrintToPdf};
use crate::tab::Tab;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reins_core::{NodeKey, TabId};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// A tab that paints nothing gives no picture; that is told, not waited for.
const SHOT: Duration = Duration::from_secs(8);

/// Printing lays the whole document out again.
const PDF: Duration = Duration::from_secs(30);

/// Tried in turn until the picture fits.
const QUALITIES: &[u8] = &[80, 60, 40, 25, 10];

/// A PDF larger than this is no help to anyone.
const PDF_BYTES: usize = 64 * 1024 * 1024;

impl Browser {
    /// Takes a picture of what the viewport shows, of one element, or of the whole page. Neither
    /// activates the tab nor changes its viewport.
    ///
    /// # Errors
    /// The tab gives no picture, or none that fits.
    pub async fn screenshot(
        &self,
        tab: &TabId,
        options: &ShotOptions,
    ) -> Result<Picture, BrowserError> {
        let tab = self.inner.tab(tab)?;
        if let Some(error) = tab.obstacle() {
            return Err(error);
        }
        let mut notes = Vec::new();
        let before = tab.state().main_frame().and_then(|frame| frame.document.clone());
        let metrics = tab.session.run(GetLayoutMetrics {}, SHOT).await;
        let metrics = metrics.map_err(|e| wire_error("Page.getLayoutMetrics", e))?;
        let mut viewport = viewport(&metrics);
        let part = match &options.element {
            Some(key) => Some(element(&tab, key, &mut viewport).await?),
            None if options.full_page => Some(Part {
                x: 0.0,
                y: 0.0,
                width: metrics.css_content_size.width,
                height: metrics.css_content_size.height,
                beyond: true,
            }),
            None => None,
        };
        let part = part.map(|part| part.bounded(viewport.ratio(), &mut notes));
        let hidden = masks(&tab).await?;
        // Where such a field lands when the page is laid out taller is not known beforehand.
        let stays = hidden.boxes.iter().any(|mask| mask.fixed);
        let part =
            part.map(|part| if stays { part.on_screen(&viewport, &mut notes) } else { part });
        let (width, height) =
            part.as_ref().map_or((viewport.width, viewport.height), |p| (p.width, p.height));
        let shot = Shot {
            tab: &tab,
            shown: Shown {
                left: part.as_ref().map_or(0.0, |part| part.x - viewport.x),
                top: part.as_ref().map_or(0.0, |part| part.y - viewport.y),
                width: part.as_ref().map_or(hidden.wide, |part| part.width),
            },
            part,
            limit: options.max_bytes.unwrap_or(PICTURE_BYTES),
            hidden: hidden.boxes,
        };
        let (bytes, mime) = shot.take(options.format, &mut notes).await?;
        let after = tab.state().main_frame().and_then(|frame| frame.document.clone());
        let viewport = viewport.public();
        Ok(Picture { bytes, mime, width, height, viewport, documents: [before, after], notes })
    }

    /// The page as PDF.
    ///
    /// # Errors
    /// The browser cannot print it, or does not answer.
    pub async fn pdf(&self, tab: &TabId) -> Result<Vec<u8>, BrowserError> {
        let tab = self.inner.tab(tab)?;
        if let Some(error) = tab.obstacle() {
            return Err(error);
        }
        let pdf = tab.session.run(PrintToPdf { print_background: true }, PDF).await;
        let pdf = pdf.map_err(|e| wire_error("Page.printToPDF", e))?;
        let bytes = decode(&pdf.data)?;
        if bytes.len() > PDF_BYTES {
            return Err(BrowserError::PictureTooLarge { limit: PDF_BYTES });
        }
        Ok(bytes)
    }
}

/// What the browser says of the viewport.
struct Metrics {
    width: f64,
    height: f64,
    x: f64,
    y: f64,
    zoom: f64,
    scale: f64,
}

impl Metrics {
    /// Device pixels to a CSS pixel, as far as it is known here.
    fn ratio(&self) -> f64 {
        (self.zoom * self.scale).max(1.0)
    }

    fn public(&self) -> Viewport {
        Viewport {
            scroll_x: self.x,
            scroll_y: self.y,
            width: self.width,
            height: self.height,
            zoom: self.zoom,
        }
    }
}

fn viewport(metrics: &LayoutMetrics) -> Metrics {
    let view = &metrics.css_visual_viewport;
    Metrics {
        width: view.client_width,
        height: view.client_height,
        x: view.page_x,
        y: view.page_y,
        zoom: view.zoom.unwrap_or(1.0),
        scale: view.scale,
    }
}

/// A part of the page, in CSS pixels of the document.
struct Part {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    beyond: bool,
}

impl Part {
    /// Cut where a side would be too long.
    fn bounded(mut self, ratio: f64, notes: &mut Vec<String>) -> Self {
        let longest = f64::from(PICTURE_SIDE) / ratio;
        if self.width > longest || self.height > longest {
            notes.push(format!(
                "the picture is cut: what it shows is {:.0} x {:.0} pixels",
                self.width, self.height
            ));
            self.width = self.width.min(longest);
            self.height = self.height.min(longest);
        }
        self
    }
}

impl Part {
    /// Only what is on the screen now.
    fn on_screen(mut self, view: &Metrics, notes: &mut Vec<String>) -> Self {
        if self.beyond {
            notes.push(
                "only what is on the screen is shown: a field that holds a secret stays in place while the page scrolls"
                    .to_owned(),
            );
        }
        let (right, bottom) = (self.x + self.width, self.y + self.height);
        self.x = self.x.max(view.x);
        self.y = self.y.max(view.y);
        self.width = (right.min(view.x + view.width) - self.x).max(1.0);
        self.height = (bottom.min(view.y + view.height) - self.y).max(1.0);
        self.beyond = false;
        self
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Framed {
    At { x: f64, y: f64, width: f64, height: f64 },
    No { no: String },
}

/// The element's box, scrolled into view: `view` is then what the viewport shows.
async fn element(tab: &Arc<Tab>, key: &NodeKey, view: &mut Metrics) -> Result<Part, BrowserError> {
    let world = tab.world_of(&key.frame, &key.document)?;
    let framed = ask(&world, &format!("__reins.frameOf({})", key.node.0), false, SHOT);
    match framed.answer::<Framed>().await? {
        Framed::No { no } if no == "detached" => {
            Err(BrowserError::StaleRef { what: "it is no longer in the page".into() })
        }
        Framed::No { .. } => Err(BrowserError::Page {
            what: "the element is not visible, so there is no picture of it".into(),
        }),
        Framed::At { x, y, width, height } => {
            let (left, top) = point_in_tab(tab, &key.frame, x, y).await?;
            // Scrolling into view may have moved the page.
            let metrics = tab.session.run(GetLayoutMetrics {}, SHOT).await;
            let now = metrics.map_err(|e| wire_error("Page.getLayoutMetrics", e))?;
            *view = viewport(&now);
            let beyond =
                left < 0.0 || top < 0.0 || left + width > view.width || top + height > view.height;
            Ok(Part { x: left + view.x, y: top + view.y, width, height, beyond })
        }
    }
}

struct Shot<'a> {
    tab: &'a Arc<Tab>,
    part: Option<Part>,
    shown: Shown,
    limit: usize,
    /// Where fields with secrets were before the picture was taken.
    hidden: Vec<Mask>,
}

impl Shot<'_> {
    async fn take(
        &self,
        format: PictureFormat,
        notes: &mut Vec<String>,
    ) -> Result<(Vec<u8>, &'static str), BrowserError> {
        if format == PictureFormat::Png {
            let png = self.once("png", None).await?;
            if png.len() <= self.limit {
                return Ok((png, "image/png"));
            }
            notes.push("too large as PNG, so it is a JPEG".into());
        }
        for (tries, quality) in QUALITIES.iter().enumerate() {
            let jpeg = self.once("jpeg", Some(*quality)).await?;
            if jpeg.len() <= self.limit {
                if tries > 0 {
                    notes.push(format!("quality lowered to {quality} to fit"));
                }
                return Ok((jpeg, "image/jpeg"));
            }
        }
        Err(BrowserError::PictureTooLarge { limit: self.limit })
    }

    async fn once(&self, format: &str, quality: Option<u8>) -> Result<Vec<u8>, BrowserError> {
        let clip = self.part.as_ref().map(|part| Clip {
            x: part.x,
            y: part.y,
            width: part.width,
            height: part.height,
            scale: 1.0,
        });
        let shot = CaptureScreenshot {
            format,
            optimize_for_speed: true,
            quality,
            clip,
            capture_beyond_viewport: self.part.as_ref().map(|part| part.beyond),
        };
        let shot = self.tab.session.run(shot, SHOT).await;
        let shot = shot.map_err(|error| wire_error("Page.captureScreenshot", error))?;
        let picture = decode(&shot.data)?;
        // They may have moved meanwhile: both places are left out.
        let mut hidden = masks(self.tab).await?.boxes;
        hidden.extend(self.hidden.iter().copied());
        if hidden.is_empty() {
            return Ok(picture);
        }
        cover(&picture, quality, &hidden, &self.shown)
    }
}

fn decode(data: &str) -> Result<Vec<u8>, BrowserError> {
    STANDARD.decode(data).map_err(|_| BrowserError::Page {
        what: "the browser's picture could not be read; take it again".into(),
    })
}
