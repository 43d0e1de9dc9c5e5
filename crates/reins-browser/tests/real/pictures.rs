//! Pictures within their bounds, and PDF.

use crate::support::{Page, World, done};
use reins_browser::{PICTURE_BYTES, PICTURE_SIDE, PictureFormat, ShotOptions};

/// Width and height of a PNG.
fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[1..4], b"PNG");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// Noise that no format compresses well.
const NOISE: &str = "<canvas id=c width=1200 height=5000 style='display:block'></canvas><script>const x=c.getContext('2d'),d=x.createImageData(1200,5000);\
    for(let i=0;i<d.data.length;i++)d.data[i]=(i*2654435761>>>7)^(Math.random()*256);x.putImageData(d,0,0)</script>";

#[tokio::test]
async fn a034_pictures_of_the_viewport_an_element_and_the_page() {
    let page = "<body style='margin:0'><div style='height:2000px'></div><div role=button aria-label=Square style='width:80px;height:60px;background:red'></div></body>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let png = ShotOptions { format: PictureFormat::Png, ..ShotOptions::default() };
    let view = world.browser.screenshot(&world.tab, &png).await.unwrap();
    // A scrollbar is in the picture and not in the viewport's width.
    let (width, height) = png_size(&view.bytes);
    assert!(width as f64 - view.width < 20.0, "{width} {}", view.width);
    assert_eq!(height, view.height as u32);
    assert_eq!(view.viewport.scroll_y, 0.0);
    let whole = ShotOptions { full_page: true, ..png.clone() };
    let whole = world.browser.screenshot(&world.tab, &whole).await.unwrap();
    assert_eq!(png_size(&whole.bytes).1, 2_060);
    let square = ShotOptions { element: Some(world.find("Square").await), ..png };
    let square = world.browser.screenshot(&world.tab, &square).await.unwrap();
    assert_eq!(png_size(&square.bytes), (80, 60));
    let pdf = world.browser.pdf(&world.tab).await.unwrap();
    assert!(pdf.starts_with(b"%PDF"));
}

#[tokio::test]
async fn a034_a_picture_that_is_too_large_loses_quality_before_it_is_given_up() {
    let world = World::start([("/", Page::html(NOISE))]).await;
    done(&world.go("/").await);
    let whole = ShotOptions { full_page: true, ..ShotOptions::default() };
    match world.browser.screenshot(&world.tab, &whole).await {
        Ok(picture) => {
            assert!(picture.bytes.len() <= PICTURE_BYTES);
            assert!(picture.height <= f64::from(PICTURE_SIDE));
            assert!(!picture.notes.is_empty(), "what was lost is told");
        }
        Err(error) => assert_eq!(error.code(), "picture_too_large"),
    }
    let small = ShotOptions { max_bytes: Some(1_000), ..ShotOptions::default() };
    let error = world.browser.screenshot(&world.tab, &small).await.unwrap_err();
    assert_eq!(error.code(), "picture_too_large");
}

#[tokio::test]
async fn a_picture_of_an_element_inside_a_frame_shows_the_element() {
    let inner = "<body style='margin:0;background:white'><div style='height:50px'></div><div role=button aria-label=Square style='width:70px;height:30px;background:#0f0'></div></body>";
    let world = World::start([("/in", Page::html(inner))]).await;
    let page = format!(
        "<body style='margin:0'><div style='height:1500px'></div><iframe style='border:5px solid' src='http://localhost:{}/in'></iframe></body>",
        world.site.port()
    );
    world.site.set("/", Page::html(&page));
    done(&world.go("/").await);
    let options = ShotOptions {
        element: Some(world.find("Square").await),
        format: PictureFormat::Png,
        ..ShotOptions::default()
    };
    let picture = world.browser.screenshot(&world.tab, &options).await.unwrap();
    assert_eq!(png_size(&picture.bytes), (70, 30));
}

/// The colours of a picture, as `(red, green, blue)` to how often.
fn colours(bytes: &[u8]) -> std::collections::HashMap<[u8; 3], usize> {
    let image = image::load_from_memory(bytes).unwrap().into_rgb8();
    let mut seen = std::collections::HashMap::new();
    for pixel in image.pixels() {
        *seen.entry(pixel.0).or_default() += 1;
    }
    seen
}

/// what secret fields show is not in a picture: in the page, in frames of either kind, in
/// shadow roots; whole, by element, and when the field stays in place while the page scrolls.
#[tokio::test]
async fn r131_secret_fields_are_painted_over() {
    // Only the fields are red, so a red pixel is one that should not be there.
    let field = "<style>body{background:white}input{background:#f00;color:#f00;border:0;width:180px;height:24px}</style>\
        <input autocomplete=one-time-code value=123456>";
    let inside = format!("<!doctype html>{field}");
    let page = format!(
        "{field}<p>Text</p><input name=cvc value=987><iframe src=/inside></iframe><iframe src={{other}}></iframe>\
         <div id=host></div><div style=height:1500px></div><div id=card><input aria-label='Card number' value=4111111111111111></div>\
         <script>host.attachShadow({{mode:'closed'}}).innerHTML=`{field}`</script>"
    );
    let world = World::start([("/inside", Page::html(&inside))]).await;
    let other = world.site.other_url("/inside");
    world.site.set("/", Page::html(&page.replace("{other}", &other)));
    let stays = page
        .replace("{other}", &other)
        .replace("<p>Text</p>", "<style>#card{position:fixed;bottom:0}</style>");
    world.site.set("/fixed", Page::html(&stays));
    let red = |bytes: &[u8]| {
        let strong = |c: &[u8; 3]| c[0] > 180 && c[1] < 90 && c[2] < 90;
        colours(bytes).iter().filter(|(c, _)| strong(c)).map(|(_, n)| n).sum::<usize>()
    };
    for path in ["/", "/fixed"] {
        done(&world.go(path).await);
        // The reading is what finds closed roots.
        world.text().await;
        for format in [PictureFormat::Png, PictureFormat::Jpeg] {
            for full_page in [false, true] {
                let options = ShotOptions { full_page, format, ..ShotOptions::default() };
                let picture = world.browser.screenshot(&world.tab, &options).await.unwrap();
                assert_eq!(red(&picture.bytes), 0, "{path} {full_page} {format:?}");
                assert!(
                    colours(&picture.bytes).contains_key(&[128, 128, 128]),
                    "{path} {full_page}"
                );
            }
        }
        let element = Some(world.find("textbox:Card number").await);
        let options = ShotOptions { element, ..ShotOptions::default() };
        let picture = world.browser.screenshot(&world.tab, &options).await.unwrap();
        assert_eq!(red(&picture.bytes), 0, "{path} element");
    }
    // The same field shows its colour while it is empty: the test would see it.
    world.eval("document.querySelectorAll('input').forEach(i=>i.value='')").await;
    let png = ShotOptions { format: PictureFormat::Png, ..ShotOptions::default() };
    let picture = world.browser.screenshot(&world.tab, &png).await.unwrap();
    assert!(red(&picture.bytes) > 1_000);
}
