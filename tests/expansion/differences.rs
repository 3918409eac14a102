//! Where an expansion deliberately gives something else than the original did. Each kind stands in COMPATIBILITY.md.

/// A kind of difference.
struct Difference {
    /// Beginnings of its rows in COMPATIBILITY.md.
    rows: &'static [&'static str],
    /// The cases that show it: their collection and name.
    cases: &'static [(&'static str, &'static str)],
}

const DIFFERENCES: &[Difference] = &[
    // One reader of YAML, whose values are those of JSON.
    Difference {
        rows: &[
            "Keys of maps stay the text that is written",
            "Members of maps come in the order in which they are written",
            "Dates and timestamps stay the text that is written",
            "`.inf`, `.nan` and integers beyond 64 bits are refused",
            "A configuration is a mapping or empty",
        ],
        cases: &[
            ("cases", "scalar-doc"),
            ("cases", "yaml11-scalars"),
            ("cases", "s-date-as-string"),
            ("samples-plain", "examples/v2/internal_lb_haproxy/config.yaml"),
            ("samples-plain", "examples/v2/internal_lb_haproxy/jinja/config.yaml"),
            ("samples-plain", "examples/v2/internal_lb_haproxy/python/config.yaml"),
            ("samples-plain", "examples/v2/nodejs/jinja/nodejs.yaml"),
            ("samples-plain", "examples/v2/nodejs/python/nodejs.yaml"),
            ("samples-plain", "examples/v2/nodejs_l7/jinja/application.yaml"),
            ("samples-plain", "examples/v2/nodejs_l7/python/application.yaml"),
        ],
    },
    Difference {
        rows: &[
            "A Python template has the files of its configuration",
            "In Jinja no list or map can be changed",
        ],
        cases: &[("cases", "j-ssti"), ("cases", "p-os")],
    },
    Difference { rows: &["Python is Python 3;"], cases: &[("cases", "p-print-stmt")] },
    Difference { rows: &["`env` is that of one resource"], cases: &[("cases", "p-mutate-env")] },
    Difference {
        rows: &["A property whose schema is a `$ref` to one without a default stays absent"],
        cases: &[("cases", "s-ref-no-default")],
    },
    Difference {
        rows: &["An output comes in with its type"],
        cases: &[
            ("cases", "o-jsonpath"),
            (
                "samples-plain",
                "examples/v2/build_configuration/use_outputs/use_template_with_outputs.yaml",
            ),
            ("samples-plain", "examples/v2/internal_lb/python/config.yaml"),
        ],
    },
    Difference {
        rows: &["A name means the resource of the nearest list that has it"],
        cases: &[("cases", "o-name-collision")],
    },
    Difference {
        rows: &["Outputs that need each other in a circle"],
        cases: &[("vectors", "testSimpleUpDown"), ("vectors", "testUpDown")],
    },
    Difference {
        rows: &["A template that is not imported is an error"],
        cases: &[
            ("fixtures", "outputs/chain_multiple.yaml"),
            ("fixtures", "outputs/chain_outputs.yaml"),
            ("fixtures", "outputs/conditional.yaml"),
            ("fixtures", "outputs/consume_multiple.yaml"),
            ("fixtures", "outputs/consume_output.yaml"),
            ("fixtures", "outputs/list_output.yaml"),
            ("fixtures", "outputs/output_template.yaml"),
            ("fixtures", "outputs/simple_up_down.yaml"),
            ("fixtures", "outputs/template.yaml"),
            ("fixtures", "outputs/type.yaml"),
            ("fixtures", "outputs/up_down.yaml"),
            ("fixtures", "use_helper.yaml"),
            ("dm-examples", "package/cassandra.yaml"),
        ],
    },
];

/// Whether a case is known to differ.
pub(crate) fn listed(collection: &str, name: &str) -> bool {
    DIFFERENCES.iter().flat_map(|kind| kind.cases).any(|&case| case == (collection, name))
}

#[test]
fn every_kind_of_difference_stands_in_the_document() -> anyhow::Result<()> {
    let path = tests::corpus::repository().join("COMPATIBILITY.md");
    let document = std::fs::read_to_string(path)?;
    let rows = DIFFERENCES.iter().flat_map(|kind| kind.rows);
    let missing: Vec<_> = rows.filter(|row| !document.contains(&format!("\n| {row}"))).collect();
    assert_eq!(missing, [&""; 0]);
    assert!(DIFFERENCES.len() <= 12, "nobody remembers more than twelve kinds");
    Ok(())
}
