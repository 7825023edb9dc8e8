//! Placeholder while the real one lands.
/// x
#[derive(Clone, Copy, Debug)]
pub enum Who {
    /// x
    Human,
    /// x
    Model,
    /// x
    Tool,
}
/// x
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// x
    pub at: u32,
    /// x
    pub who: Who,
    /// x
    pub text: &'a str,
}
/// x
pub fn narrative(_: &[Said<'_>], _: usize) -> String {
    String::new()
}
