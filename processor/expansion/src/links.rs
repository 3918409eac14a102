//! What the parts of a result refer to, for whoever creates them: in which order, and which values are still to come.
//!
//! A text that is left in a result means what it meant where it was written, and nothing of that can be seen in the
//! result alone. So each is listed here with what it means. No values are looked up, and nobody is refused.

/// What a primitive needs of others, and what it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The primitives that it needs, by their positions among [`Expanded::resources`](crate::Expanded::resources), in
    /// order and each once: what it refers to, and what it names in `metadata.dependsOn`, a template meaning all of its
    /// primitives. There are no circles.
    pub needs: Vec<usize>,
    /// The references that are left in its name, type, metadata and properties, in the order of their texts, each once.
    pub references: Vec<Link>,
    /// The names in `metadata.dependsOn` that nobody has.
    pub missing: Vec<String>,
}

/// A reference that is left in a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// All of it as it is written, such as `$(ref.b.status.ip)`.
    pub text: String,
    /// Whose value it stands for.
    pub target: Target,
    /// Where in that, for [`find`](crate::references::find). `None` is all of it.
    pub path: Option<String>,
}

/// Whose value a reference stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// That of the object that this primitive becomes, by its position among the resources.
    Resource(usize),
    /// More than one primitive may be meant, and none before the others. All of them are needed.
    Ambiguous,
    /// A template, of which there are no outputs.
    Template,
    /// The outputs of another Deployment, which is none of the resources; the path begins with the name of an output.
    /// A name with dots cannot be written so.
    Deployment(String),
    /// Nobody has the name.
    Unknown,
    /// It begins like a reference and is none; the text is all of the text in which it stands.
    Malformed,
}

/// The references that are left in the outputs of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutLinks {
    /// Where the template is in the layout: its position in the configuration's list, in the list of that, and so on.
    pub place: Vec<usize>,
    /// The references, in the order of their texts, each once.
    pub references: Vec<Link>,
}
