//! The same JSON as others would have written it: what no reader may care about.

use serde_json::Value;

use epitome_bench::dice::Dice;

/// In which order an object's members stand.
#[derive(Clone, Copy, Debug)]
enum Keys {
    Sorted,
    Backwards,
    Shuffled,
}

/// `source`, one JSON value or one a line, laid out in other ways, each with what was done. Lines that
/// are not JSON are left out of those that write the values anew.
pub fn layouts(source: &str) -> Vec<(&'static str, String)> {
    let values: Vec<Value> = match serde_json::from_str(source) {
        Ok(value) => vec![value],
        Err(_) => source.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    let written = |write: &dyn Fn(&Value) -> String, end: &str| -> String {
        values.iter().map(|value| write(value) + end).collect()
    };
    let indented = |value: &Value| serde_json::to_string_pretty(value).expect("a value is JSON");
    let returned = |value: &Value| indented(value).replace('\n', "\r\n");
    let keyed = |keys: Keys| {
        let mut dice = Dice::new(source.len() as u64);
        values.iter().map(|value| write(value, keys, &mut dice) + "\n").collect::<String>()
    };
    vec![
        ("leading white space", format!(" \n\r\n\t{source}")),
        ("byte order mark", format!("\u{feff}{source}")),
        ("byte order mark and blank lines", format!("\u{feff} \n\n\t{source}\n\n")),
        ("CRLF", source.replace('\n', "\r\n")),
        ("no last line end", source.trim_end().to_owned()),
        ("one last line end", source.trim_end().to_owned() + "\n"),
        ("many last line ends", source.trim_end().to_owned() + "\r\n\n\n \n"),
        ("compact", written(&Value::to_string, "\n")),
        ("indented", written(&indented, "\n")),
        ("indented, CRLF", written(&returned, "\r\n")),
        ("blank lines between", written(&Value::to_string, "\n\n")),
        ("keys in order", keyed(Keys::Sorted)),
        ("keys backwards", keyed(Keys::Backwards)),
        ("keys shuffled", keyed(Keys::Shuffled)),
    ]
}

/// `value` with the members of its objects in any order.
pub(crate) fn shuffled(value: &Value, seed: u64) -> String {
    write(value, Keys::Shuffled, &mut Dice::new(seed))
}

fn write(value: &Value, keys: Keys, dice: &mut Dice) -> String {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            match keys {
                Keys::Sorted => {}
                Keys::Backwards => names.reverse(),
                Keys::Shuffled => {
                    for at in (1..names.len()).rev() {
                        names.swap(at, dice.below(at + 1));
                    }
                }
            }
            let members = names.into_iter().map(|name| {
                let value = write(&members[name], keys, dice);
                format!("{} : {value}", Value::from(name.as_str()))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(" ,\t"))
        }
        Value::Array(elements) => {
            let elements = elements.iter().map(|element| write(element, keys, dice));
            format!("[{}]", elements.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_have_the_same_value() {
        let source = r#"{"b":[1,{"d":null,"c":"x"}],"a":true,"e":{}}"#;
        let value: Value = serde_json::from_str(source).expect("JSON");
        let mut texts: Vec<String> = Vec::new();
        for (how, text) in layouts(source) {
            let text = text.trim_start_matches('\u{feff}').to_owned();
            assert_eq!(serde_json::from_str::<Value>(&text).expect(how), value, "{how}");
            texts.push(text);
        }
        let shuffled = texts.pop().expect("the last one");
        assert!(!texts.contains(&shuffled), "{shuffled}");
        assert_eq!(
            layouts("{\"a\":1}\nno\n{\"a\":2}").pop().expect("the last one").1,
            "{\"a\" : 1}\n{\"a\" : 2}\n"
        );
    }
}
