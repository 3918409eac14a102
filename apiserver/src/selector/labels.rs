//! Label selectors: `app=x,tier in (web,db),!legacy,weight>5`.
//!
//! The grammar has corners that clients rely on: `in` and `notin` are keywords only where an
//! operator is due, blanks may stand anywhere between tokens, a missing value is the empty value,
//! and a comma promises a further requirement.

use std::fmt;

use super::ParseError;
use crate::{field, names};

/// A conjunction of requirements on labels, ordered by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    condition: Condition,
}

/// What is required of a label's value. The lists are sorted and never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The label is there.
    Exists,
    /// It is not.
    Absent,
    /// It has one of these values.
    In(Vec<String>),
    /// It has none of these values, or is not there.
    NotIn(Vec<String>),
    /// It is a number above this one.
    Above(i64),
    /// It is a number below this one.
    Below(i64),
}

impl LabelSelector {
    /// Reads a `labelSelector` parameter. The empty text selects everything.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut requirements =
            Parser { tokens: Lexer { rest: text }, peeked: None }.selector().map_err(ParseError)?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements })
    }

    /// Whether every object matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// What is required of which label, by key.
    pub fn requirements(&self) -> impl Iterator<Item = (&str, &Condition)> {
        self.requirements.iter().map(|one| (one.key.as_str(), &one.condition))
    }

    /// Whether an object with these labels matches.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|one| one.condition.holds(label(&one.key)))
    }
}

impl Condition {
    fn holds(&self, value: Option<&str>) -> bool {
        let listed = |values: &[String], value: &str| {
            values.binary_search_by(|listed| listed.as_str().cmp(value)).is_ok()
        };
        // A value that is no integer is neither above nor below anything.
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| listed(values, value)),
            Self::NotIn(values) => value.is_none_or(|value| !listed(values, value)),
            Self::Above(bound) => number().is_some_and(|number| number > *bound),
            Self::Below(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Requirement { key, condition }) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match condition {
                Condition::Exists => f.write_str(key),
                Condition::Absent => write!(f, "!{key}"),
                Condition::In(values) => match values.as_slice() {
                    [only] => write!(f, "{key}={only}"),
                    many => write!(f, "{key} in ({})", many.join(",")),
                },
                Condition::NotIn(values) => match values.as_slice() {
                    [only] => write!(f, "{key}!={only}"),
                    many => write!(f, "{key} notin ({})", many.join(",")),
                },
                Condition::Above(bound) => write!(f, "{key}>{bound}"),
                Condition::Below(bound) => write!(f, "{key}<{bound}"),
            }?;
        }
        Ok(())
    }
}

// === Tokens ===

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A key, a value, or one of the keywords `in` and `notin`.
    Word(&'a str),
    /// One of `) , ! == = > < != (`.
    Symbol(&'static str),
    End,
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Word(text) | Self::Symbol(text) => text,
            Self::End => "",
        }
    }
}

const COMMA: Token<'static> = Token::Symbol(",");
const NOT: Token<'static> = Token::Symbol("!");
const OPEN: Token<'static> = Token::Symbol("(");
const CLOSE: Token<'static> = Token::Symbol(")");

struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Token<'a> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if self.rest.is_empty() {
            return Token::End;
        }
        // The longer spelling first.
        for symbol in ["==", "!=", "=", "!", "(", ")", ",", ">", "<"] {
            if let Some(rest) = self.rest.strip_prefix(symbol) {
                self.rest = rest;
                return Token::Symbol(symbol);
            }
        }
        let end = self.rest.find([' ', '\t', '\r', '\n', '=', '!', '(', ')', ',', '>', '<']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Token::Word(word)
    }
}

// === Grammar ===

struct Parser<'a> {
    tokens: Lexer<'a>,
    peeked: Option<Token<'a>>,
}

enum Operator {
    In,
    NotIn,
    Equals,
    NotEquals,
    Above,
    Below,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Token<'a> {
        self.peeked.take().unwrap_or_else(|| self.tokens.next())
    }

    fn peek(&mut self) -> Token<'a> {
        *self.peeked.get_or_insert_with(|| self.tokens.next())
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(_) | NOT => {
                    let requirement = self.requirement();
                    requirements.push(
                        requirement.map_err(|why| format!("unable to parse requirement: {why}"))?,
                    );
                }
                Token::End => return Ok(requirements),
                other => {
                    let found = other.text();
                    return Err(format!(
                        "found '{found}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
            match (self.next(), self.peek()) {
                (Token::End, _) => return Ok(requirements),
                (COMMA, Token::Word(_) | NOT) => {}
                (COMMA, other) => {
                    let found = other.text();
                    return Err(format!("found '{found}', expected: identifier after ','"));
                }
                (other, _) => {
                    let found = other.text();
                    return Err(format!("found '{found}', expected: ',' or 'end of string'"));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.next();
        let absent = token == NOT;
        if absent {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(format!("found '{}', expected: identifier", token.text()));
        };
        let problems = names::qualified_name(key);
        if !problems.is_empty() {
            // Upstream prints the path that is not there as `<nil>`.
            let detail = problems.join("; ");
            return Err(field::Error::invalid("<nil>", field::quote(key), detail).to_string());
        }
        let condition = match self.peek() {
            _ if absent => Condition::Absent,
            Token::End | COMMA => Condition::Exists,
            _ => match self.operator()? {
                Operator::In => Condition::In(checked(key, self.values()?)?),
                Operator::NotIn => Condition::NotIn(checked(key, self.values()?)?),
                Operator::Equals => Condition::In(checked(key, vec![self.value()?])?),
                Operator::NotEquals => Condition::NotIn(checked(key, vec![self.value()?])?),
                Operator::Above => Condition::Above(bound(key, self.value()?)?),
                Operator::Below => Condition::Below(bound(key, self.value()?)?),
            },
        };
        Ok(Requirement { key: key.to_owned(), condition })
    }

    fn operator(&mut self) -> Result<Operator, String> {
        match self.next() {
            Token::Word("in") => Ok(Operator::In),
            Token::Word("notin") => Ok(Operator::NotIn),
            Token::Symbol("=" | "==") => Ok(Operator::Equals),
            Token::Symbol("!=") => Ok(Operator::NotEquals),
            Token::Symbol(">") => Ok(Operator::Above),
            Token::Symbol("<") => Ok(Operator::Below),
            other => {
                let found = other.text();
                Err(format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt"))
            }
        }
    }

    /// The value after `=` and its like; nothing is the empty value.
    fn value(&mut self) -> Result<&'a str, String> {
        if let Token::End | COMMA = self.peek() {
            return Ok("");
        }
        match self.next() {
            Token::Word(value) => Ok(value),
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    /// The values in parentheses. Between two commas, and beside a lone one, stands the empty value.
    fn values(&mut self) -> Result<Vec<&'a str>, String> {
        let open = self.next();
        if open != OPEN {
            return Err(format!("found '{}' expected: '('", open.text()));
        }
        match self.peek() {
            CLOSE => {
                self.next();
                return Ok(vec![""]);
            }
            Token::Word(_) | COMMA => {}
            other => {
                let found = other.text();
                return Err(format!("found '{found}', expected: ',', ')' or identifier"));
            }
        }
        let mut values = Vec::new();
        loop {
            match (self.next(), self.peek()) {
                (Token::Word(value), following) => {
                    values.push(value);
                    match following {
                        COMMA => continue,
                        CLOSE => break,
                        other => {
                            let found = other.text();
                            return Err(format!("found '{found}', expected: ',' or ')'"));
                        }
                    }
                }
                (COMMA, following) => {
                    if values.is_empty() || following == CLOSE || following == COMMA {
                        values.push("");
                    }
                    match following {
                        CLOSE => break,
                        COMMA => _ = self.next(),
                        _ => {}
                    }
                }
                (other, _) => {
                    let found = other.text();
                    return Err(format!("found '{found}', expected: ',', or identifier"));
                }
            }
        }
        self.next();
        Ok(values)
    }
}

fn checked(key: &str, mut values: Vec<&str>) -> Result<Vec<String>, String> {
    values.sort_unstable();
    values.dedup();
    let problems: Vec<field::Error> = values
        .iter()
        .enumerate()
        .filter_map(|(index, value)| value_problem(key, index, value))
        .collect();
    if problems.is_empty() {
        Ok(values.into_iter().map(str::to_owned).collect())
    } else {
        Err(field::aggregate(&problems))
    }
}

fn bound(key: &str, value: &str) -> Result<i64, String> {
    let number = value.parse::<i64>().map_err(|_| {
        let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
        field::Error::invalid("values[0]", field::quote(value), detail)
    });
    match (number, value_problem(key, 0, value)) {
        (Ok(number), None) => Ok(number),
        (number, problem) => {
            let problems: Vec<_> = number.err().into_iter().chain(problem).collect();
            Err(field::aggregate(&problems))
        }
    }
}

fn value_problem(key: &str, index: usize, value: &str) -> Option<field::Error> {
    let problems = names::label_value(value);
    (!problems.is_empty()).then(|| {
        let path = format!("values[{index}][{key}]");
        field::Error::invalid(path, field::quote(value), problems.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> LabelSelector {
        LabelSelector::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn check(selector: &str, labels: &[(&str, &str)], expected: bool) {
        let labels: BTreeMap<&str, &str> = labels.iter().copied().collect();
        let matched = parse(selector).matches(|key| labels.get(key).copied());
        assert_eq!(matched, expected, "{selector} on {labels:?}");
    }

    #[test]
    fn requirements_select_by_value_and_by_presence() {
        let a = [("app", "x"), ("tier", "web"), ("n", "1")];
        let b = [("app", "y"), ("tier", "db"), ("n", "5")];
        let c = [("app", "x")];
        let d = [];
        let table: [(&str, [bool; 4]); 20] = [
            ("app=x", [true, false, true, false]),
            ("app==x", [true, false, true, false]),
            ("app!=x", [false, true, false, true]),
            ("app in (x,y)", [true, true, true, false]),
            ("app notin (x)", [false, true, false, true]),
            ("tier", [true, true, false, false]),
            ("!tier", [false, false, true, true]),
            ("app=x,tier", [true, false, false, false]),
            ("app=x,!tier", [false, false, true, false]),
            ("n>1", [false, true, false, false]),
            ("n<5", [true, false, false, false]),
            ("app>0", [false, false, false, false]),
            ("app=", [false, false, false, false]),
            ("app in ()", [false, false, false, false]),
            ("", [true, true, true, true]),
            (" \t\n", [true, true, true, true]),
            (" app = x ", [true, false, true, false]),
            ("app==", [false, false, false, false]),
            ("app!=", [true, true, true, true]),
            ("! tier", [false, false, true, true]),
        ];
        for (selector, expected) in table {
            for (labels, expected) in [&a[..], &b, &c, &d].into_iter().zip(expected) {
                check(selector, labels, expected);
            }
        }
    }

    #[test]
    fn keywords_are_words_where_no_operator_is_due() {
        check("in in (in,notin)", &[("in", "notin")], true);
        check("notin", &[("notin", "")], true);
        check("a=in", &[("a", "in")], true);
    }

    #[test]
    fn a_missing_value_in_a_list_is_the_empty_one() {
        for selector in ["a in ()", "a in (,)", "a in (x,)", "a in (,x)", "a in (x,,y)"] {
            check(selector, &[("a", "")], true);
        }
        assert_eq!(parse("a in (x,,y,x)").to_string(), "a in (,x,y)");
    }

    #[test]
    fn what_cannot_be_parsed_is_told_in_upstreams_words() {
        let table = [
            ("app=x,", "found '', expected: identifier after ','"),
            ("=x", "found '=', expected: !, identifier, or 'end of string'"),
            ("(", "found '(', expected: !, identifier, or 'end of string'"),
            ("app in x", "unable to parse requirement: found 'x' expected: '('"),
            ("app=x y", "found 'y', expected: ',' or 'end of string'"),
            ("app=a=b", "found '=', expected: ',' or 'end of string'"),
            ("!app=b", "found '=', expected: ',' or 'end of string'"),
            (
                "a b=c",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
            ("app in (x,y", "unable to parse requirement: found '', expected: ',' or ')'"),
            (
                "app in (=",
                "unable to parse requirement: found '=', expected: ',', ')' or identifier",
            ),
            ("app in (x,=", "unable to parse requirement: found '=', expected: ',', or identifier"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("a=(", "unable to parse requirement: found '(', expected: identifier"),
            (
                "n>a",
                "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
        ];
        for (selector, expected) in table {
            let error = LabelSelector::parse(selector).unwrap_err();
            assert_eq!(error.to_string(), expected, "{selector}");
        }
    }

    #[test]
    fn keys_and_values_are_validated() {
        let message = |selector: &str| LabelSelector::parse(selector).unwrap_err().to_string();
        assert!(message("UP/a/b=c").starts_with(
            "unable to parse requirement: <nil>: Invalid value: \"UP/a/b\": a qualified name must"
        ));
        assert!(message("app=x;tier=web").starts_with("unable to parse requirement: values[0][app]: Invalid value: \"x;tier\": a valid label must"));
        let long = "v".repeat(64);
        assert_eq!(
            message(&format!("app={long}")),
            format!(
                "unable to parse requirement: values[0][app]: Invalid value: \"{long}\": must be no more than 63 characters"
            )
        );
        assert!(message("n>%").starts_with("unable to parse requirement: [values[0]: Invalid value: \"%\": for 'Gt', 'Lt' operators, the value must be an integer, values[0][n]: "));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,60}") {
            _ = LabelSelector::parse(&text);
        }

        #[test]
        fn nearly_valid_text_is_parsed_or_refused(text in "[abx ,!=()<>01inot]{0,24}") {
            if let Ok(selector) = LabelSelector::parse(&text) {
                prop_assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
            }
        }

        #[test]
        fn a_requirement_and_its_opposite_split_every_set(
            values in prop::collection::vec("[a-c]", 0..4),
            label in prop::option::of("[a-d]?"),
        ) {
            let values = values.join(",");
            let get = |_: &str| label.as_deref();
            let matches = |selector: &str| parse(selector).matches(get);
            let (inside, outside) = (format!("k in ({values})"), format!("k notin ({values})"));
            prop_assert_ne!(matches(&inside), matches(&outside));
            prop_assert_ne!(matches("k"), matches("!k"));
        }
    }
}
