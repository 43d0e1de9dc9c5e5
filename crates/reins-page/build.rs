//! Makes sure that the page script was built before it is embedded.

fn main() {
    // Asked for at run time: a target directory may serve more than one checkout.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = std::path::Path::new(&here).join("../../web/dist/page.js");
    println!("cargo::rerun-if-changed={}", script.display());
    if !script.is_file() {
        println!(
            "cargo::error=web/dist/page.js is missing: run make web (npm ci && npm run build in web/)"
        );
    }
}
