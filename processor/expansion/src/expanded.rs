//! What an expansion comes to.

use crate::error::Warning;
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
