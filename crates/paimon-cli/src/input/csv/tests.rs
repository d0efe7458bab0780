// SPDX-License-Identifier: Apache-2.0

use super::records::Records;

type Read = Vec<(usize, Vec<(String, bool)>)>;

fn read(text: &str) -> Result<Read, String> {
    let mut records = Records::new(std::io::BufReader::with_capacity(3, text.as_bytes()));
    let mut out = Vec::new();
    while records.next().map_err(|e| e.to_string())? {
        let fields = (0..records.len()).map(|i| {
            let (text, quoted) = records.text(i).unwrap();
            (text.to_owned(), quoted)
        });
        out.push((records.start_line(), fields.collect()));
    }
    Ok(out)
}

fn plain(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

fn quoted(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

#[test]
fn records() {
    assert_eq!(read("").unwrap(), []);
    let two = [
        (1, vec![plain("a"), plain("")]),
        (2, vec![plain("b"), plain("c")]),
    ];
    assert_eq!(read("a,\nb,c").unwrap(), two);
    assert_eq!(read("a,\r\nb,c\r\n").unwrap(), two);
    assert_eq!(read("a,\rb,c\r").unwrap(), two);
    assert_eq!(
        read("\"a \"\"b\"\"\nc,\",d\nx,\"y\"\n").unwrap(),
        [
            (1, vec![quoted("a \"b\"\nc,"), plain("d")]),
            (3, vec![plain("x"), quoted("y")]),
        ]
    );
}

#[test]
fn empty_and_blank() {
    assert_eq!(
        read("\"\",\n\n\"\"\n\n").unwrap(),
        [
            (1, vec![quoted(""), plain("")]),
            (2, vec![plain("")]),
            (3, vec![quoted("")]),
            (4, vec![plain("")]),
        ]
    );
    assert_eq!(read("a\"b\n").unwrap(), [(1, vec![plain("a\"b")])]);
}

#[test]
fn quotes_that_do_not_match() {
    let err = read("a\n1,\"x\ny\n").unwrap_err();
    assert!(err.contains("not closed") && err.contains("line: 2"), "{err}");
    let err = read("a\n\"x\"y\n").unwrap_err();
    assert!(err.contains("closing quote") && err.contains("line: 2"), "{err}");
}
