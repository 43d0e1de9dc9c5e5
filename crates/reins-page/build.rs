//! Makes sure that the page script was built before it is embedded.

fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/page.js");
    println!("cargo::rerun-if-changed={script}");
    if !std::path::Path::new(script).is_file() {
        println!(
            "cargo::error=web/dist/page.js is missing: run make web (npm ci && npm run build in web/)"
        );
    }
}
