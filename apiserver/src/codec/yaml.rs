//! Stub until the converter lands.
pub struct Converted {
    pub json: String,
    pub duplicates: Vec<String>,
}
pub fn to_json(_: &str) -> Result<Converted, String> {
    Err("YAML is not served yet".into())
}
pub fn from_json(_: &str) -> Result<String, String> {
    Err("YAML is not served yet".into())
}
