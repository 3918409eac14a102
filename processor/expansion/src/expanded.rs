//! What an expansion comes to.

use crate::error::Warning;
use crate::links::{LayoutLinks, Link, Links};
use crate::value::Value;

/// The result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expanded {
    /// The primitive resources, flat, in order.
    pub resources: Vec<Value>,
    /// The tree they came from: `name`, `type`, `properties` and `resources` and `outputs` where there are any.
    pub layout: Vec<Value>,
    /// The outputs of the configuration itself.
    pub outputs: Vec<Output>,
    /// For each of the resources what it needs and refers to.
    pub links: Vec<Links>,
    /// The references that are left in the outputs of the configuration, in the order of their texts, each once.
    pub output_links: Vec<Link>,
    /// The same for each template that has any left in its outputs, in the order of the layout.
    pub layout_links: Vec<LayoutLinks>,
    /// What is odd.
    pub warnings: Vec<Warning>,
}

/// An output.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its value, of whatever type.
    pub value: Value,
}
