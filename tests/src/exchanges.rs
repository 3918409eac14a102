//! What clients of Deployment Manager's services asked, and what those answered: the format of its records.

/// One exchange of a record.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What it is about.
    pub name: String,
    /// The method.
    pub method: String,
    /// The path as it was sent.
    pub path: String,
    /// The body that was sent, if any.
    pub body: String,
    /// The body of the answer.
    pub answer: String,
    /// The code of the answer; 0, where the connection was closed without one.
    pub status: u16,
    /// The media type of the answer.
    pub media: String,
}

/// Reads a record: a name behind `###`, the request behind `>>>`, and the answer up to `<<<`.
pub fn read(text: &str) -> Vec<Exchange> {
    text.split("\n### ").filter_map(exchange).collect()
}

fn exchange(text: &str) -> Option<Exchange> {
    let (name, rest) = text.trim_start_matches("### ").split_once("\n>>> ")?;
    let (request, rest) = rest.split_once('\n')?;
    let (method, path) = request.split_once(' ')?;
    let (rest, end) = rest.rsplit_once("\n<<< status ")?;
    let (body, answer) = match rest.strip_prefix(">>> body: ") {
        // A body of YAML has several lines and ends with an empty one.
        Some(rest) if rest.starts_with(['{', '\n']) => rest.split_once('\n').unwrap_or((rest, "")),
        Some(rest) => rest.split_once("\n\n").unwrap_or((rest, "")),
        None => ("", rest),
    };
    let (status, media) = end.lines().next()?.split_once(" type ")?;
    Some(Exchange {
        name: name.to_owned(),
        method: method.to_owned(),
        path: path.to_owned(),
        body: body.to_owned(),
        answer: answer.to_owned(),
        status: status.parse().ok()?,
        media: media.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_a_request_with_its_answer() {
        let text = "### one\n>>> POST /a\n>>> body: {\"b\":1}\nno\n\n<<< status 400 type text/plain\n\n\
                    ### two\n>>> POST /a\n>>> body: b: 1\nc: 2\n\nyes\n<<< status 201 type json\n--- more\n\
                    ### three\n>>> GET /a\n\n<<< status 000 type \n";
        let all = read(text);
        let [one, two, three] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((&*one.body, &*one.answer, one.status), ("{\"b\":1}", "no\n", 400));
        assert_eq!((&*two.body, &*two.answer, &*two.media), ("b: 1\nc: 2", "yes", "json"));
        assert_eq!((&*three.path, &*three.answer, three.status), ("/a", "", 0));
    }
}
