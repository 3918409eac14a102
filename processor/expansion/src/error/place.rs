//! Where in the hierarchy of templates something is.

use std::fmt;

use super::shown;

/// The way from the configuration to a resource, as `config > rs (replicatedservice.py) > rs-rc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name and type of the resources on the way, outermost first; a type only where it is a template.
    pub steps: Vec<(String, Option<String>)>,
}

/// How many steps are shown at either end of a way that is longer than both together.
const ENDS: usize = 4;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("config")?;
        // A template that calls itself ends a hundred levels down; nobody reads all of them.
        let hidden = self.steps.len().saturating_sub(2 * ENDS);
        for (at, (name, template)) in self.steps.iter().enumerate() {
            if hidden > 1 && (ENDS..ENDS + hidden).contains(&at) {
                if at == ENDS {
                    write!(f, " > … {hidden} more …")?;
                }
                continue;
            }
            write!(f, " > {}", shown(name))?;
            if let Some(template) = template {
                write!(f, " ({})", shown(template))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(steps: usize) -> String {
        let steps = (0..steps).map(|at| (at.to_string(), None)).collect();
        Place { steps }.to_string()
    }

    #[test]
    fn a_long_way_shows_both_ends() {
        assert_eq!(way(0), "config");
        assert_eq!(way(9), "config > 0 > 1 > 2 > 3 > 4 > 5 > 6 > 7 > 8");
        assert_eq!(way(10), "config > 0 > 1 > 2 > 3 > … 2 more … > 6 > 7 > 8 > 9");
    }

    #[test]
    fn names_cannot_forge_the_output() {
        let place = Place { steps: vec![("a\nb".into(), Some("t\u{7}".into()))] };
        assert_eq!(place.to_string(), r"config > a\nb (t\u{7})");
    }
}
