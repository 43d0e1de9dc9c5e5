//! Makes sure that the dashboard was built before it is embedded.

fn main() {
    // Asked for at run time: a target directory may serve more than one checkout.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let built = std::path::Path::new(&here).join("../../web/dist/dashboard/app.js.gz");
    println!("cargo::rerun-if-changed={}", built.display());
    if !built.is_file() {
        println!(
            "cargo::error=web/dist/dashboard is missing: run make web (npm ci && npm run build in web/)"
        );
    }
}
