//! One HTML file with a recording and what shows it.

use crate::error::RecordError;
use crate::event::Seq;
use crate::player::{head, script};
use crate::reader::Reader;
use std::io::{self, Write};

pub(crate) fn export(reader: &Reader, to: &mut dyn Write) -> Result<(), RecordError> {
    let failed = || RecordError::file("cannot write the copy of", reader.dir());
    let about = reader.recording()?;
    let title = format!("Recording of {}", about.about.app_url);
    let body = "<body><div id=bar></div><div id=stage></div><div id=list></div>";
    let about = serde_json::to_string(&about).map_err(|error| failed()(error.into()))?;
    let begin = format!(
        "{}<script type=application/json id=recording>{{\"about\":{},\"events\":[",
        head(&title, body),
        inert(&about)
    );
    to.write_all(begin.as_bytes()).map_err(failed())?;
    let mut first = true;
    let mut written: io::Result<()> = Ok(());
    reader.each(Seq(0), |event| {
        written = write_event(to, &event, std::mem::take(&mut first));
        written.is_ok()
    })?;
    written.map_err(failed())?;
    to.write_all(b"]}</script>\n").map_err(failed())?;
    to.write_all(script().as_bytes()).map_err(failed())
}

fn write_event(
    to: &mut dyn Write,
    event: &crate::event::StoredEvent,
    first: bool,
) -> io::Result<()> {
    if !first {
        to.write_all(b",\n")?;
    }
    to.write_all(inert(&serde_json::to_string(event)?).as_bytes())
}

/// JSON that cannot end the element it stands in: `<` stands in JSON within strings only.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_recording_ends_the_element_it_stands_in() {
        let hostile = serde_json::to_string("</script><script>alert(1)</script><!--").unwrap();
        let text = inert(&hostile);
        assert!(!text.contains('<'));
        assert_eq!(
            serde_json::from_str::<String>(&text).unwrap(),
            "</script><script>alert(1)</script><!--"
        );
    }
}
