//! How much an expansion may be. Every loop of this crate ends at one of these.

/// Budgets of one expansion. Exceeding one is an error of the configuration that names the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep templates may stand in templates. Deployment Manager's successor allowed 100.
    pub depth: usize,
    /// How many resources the result may have.
    pub resources: usize,
    /// How many templates may be rendered in all.
    pub calls: usize,
    /// How often imports may be asked for, one behind the other.
    pub rounds: usize,
    /// How many files may be imported, those that came with the configuration included.
    pub imports: usize,
    /// How many bytes of JSON everything may have together that the configuration, templates and defaults give, and how
    /// many the result may have. A value counts 24 bytes at least: it takes memory even if it has hardly any text.
    /// What is told of references beside the result may be as many again.
    pub output: usize,
    /// How many bytes the configuration and all imports may have together.
    pub input: usize,
    /// How many bytes of JSON `env` may have. Every call carries a copy.
    pub env: usize,
    /// How many instructions all Jinja templates together may take.
    pub fuel: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 100,
            resources: 10_000,
            calls: 10_000,
            rounds: 100,
            imports: 1_000,
            output: 16 << 20,
            input: 16 << 20,
            env: 16 << 10,
            fuel: 10_000_000,
        }
    }
}
