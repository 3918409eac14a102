//! Text in columns, aligned as Go's `text/tabwriter` aligns it.
//!
//! A cell ends with a tab; a column is the run of adjacent lines that have a cell there, so a
//! line without tabs starts alignment anew. `oc` prints its tables this way, and the last cell of
//! a line never has trailing space.

/// How wide columns are and what fills them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Least width of a column, padding included.
    pub(crate) min_width: usize,
    /// Room between a cell and the next column.
    pub(crate) padding: usize,
    /// What fills a column.
    pub(crate) fill: Fill,
}

/// What fills a column up to its width.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fill {
    /// Spaces.
    Spaces,
    /// Tabs, eight columns wide.
    Tabs,
}

const TAB_WIDTH: usize = 8;

/// Aligns the tab-terminated cells of `text`.
pub(crate) fn align(text: &str, layout: Layout) -> String {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let mut out = String::with_capacity(text.len() * 2);
    block(&lines, &mut Vec::new(), layout, &mut out);
    out
}

/// Writes `lines`, of which the columns before `widths.len()` have the given widths.
fn block(lines: &[Vec<&str>], widths: &mut Vec<usize>, layout: Layout, out: &mut String) {
    let column = widths.len();
    let has_cell = |line: &&Vec<&str>| column + 1 < line.len();
    let mut rest = lines;
    while !rest.is_empty() {
        let plain = rest.iter().take_while(|line| !has_cell(line)).count();
        for line in &rest[..plain] {
            write_line(line, widths, layout, out);
        }
        rest = &rest[plain..];
        let run = rest.iter().take_while(has_cell).count();
        if run > 0 {
            let cells = rest[..run].iter().map(|line| line[column].chars().count());
            let widest = cells.max().unwrap_or_default() + layout.padding;
            widths.push(widest.max(layout.min_width));
            block(&rest[..run], widths, layout, out);
            widths.pop();
            rest = &rest[run..];
        }
    }
}

fn write_line(cells: &[&str], widths: &[usize], layout: Layout, out: &mut String) {
    for (index, cell) in cells.iter().enumerate() {
        out.push_str(cell);
        if let Some(width) = widths.get(index) {
            let used = cell.chars().count();
            match layout.fill {
                Fill::Spaces => out.extend(std::iter::repeat_n(' ', width - used)),
                Fill::Tabs => {
                    let room = width.next_multiple_of(TAB_WIDTH) - used;
                    out.extend(std::iter::repeat_n('\t', room.div_ceil(TAB_WIDTH)));
                }
            }
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, fill: Fill, expected: &str) {
        let layout = Layout { min_width: 0, padding: 1, fill };
        assert_eq!(align(text, layout), expected);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        check("a\tb\tc\nlong\tx\ty", Fill::Spaces, "a    b c\nlong x y\n");
    }

    #[test]
    fn a_line_without_the_cell_ends_its_column() {
        check("a\tb\nplain\nlong\tb", Fill::Spaces, "a b\nplain\nlong b\n");
    }

    #[test]
    fn tabs_fill_to_the_next_stop() {
        check("a\tb\n12345678\tb", Fill::Tabs, "a\t\tb\n12345678\tb\n");
    }

    #[test]
    fn empty_leading_cells_are_kept() {
        check("a:\tx\n\ty", Fill::Spaces, "a: x\n   y\n");
    }

    #[test]
    fn the_least_width_holds() {
        let layout = Layout { min_width: 6, padding: 3, fill: Fill::Spaces };
        assert_eq!(align("a\tb\t", layout), "a     b     \n");
    }
}
