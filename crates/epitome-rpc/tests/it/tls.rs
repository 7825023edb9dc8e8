//! Over TLS: who answers is proven, or nothing is said.

use std::sync::Arc;

use epitome::engine::Drive;
use epitome::engine::delegate::{Compact, Compactors};
use epitome_rpc::{Identity, Limits, Remote, Served, Serving, Token};

use crate::faults::{local, mine, served, session};

/// A certificate for this machine, and its key: PEM.
fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
    let made = made.expect("it can be made");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

fn remote(base: &str, token: Option<&str>) -> Remote {
    let address = format!("{}#mine", base.replace("http://127.0.0.1", "https://localhost"));
    let token = token.and_then(Token::new);
    Remote::new(address.parse().expect("an address"), token, Limits::default())
        .expect("it may be asked")
}

async fn fallbacks(remote: Remote) -> Vec<String> {
    let chain: Vec<Arc<dyn Compact>> = vec![Arc::new(remote)];
    let compactor = local().with_compactors(Compactors { chain, ..Compactors::default() });
    let outcome = Drive::new(compactor.begin(&session())).await.expect("there is always a view");
    outcome.receipt.fallbacks
}

#[tokio::test]
async fn only_trusted_servers_are_asked() {
    let (certificate, key) = certificate();
    let identity = Some(Identity::from_pem(&certificate, key).expect("they belong together"));
    let all = vec![Served::new(mine(), "for tests")];
    let token = Token::new("s3cret");
    let (base, _alive) = served(Serving { identity, token, ..Serving::new(all) }).await;
    let trusting = |token| remote(&base, token).trusting(certificate.as_bytes()).expect("PEM");
    assert_eq!(fallbacks(trusting(Some("s3cret"))).await, Vec::<String>::new());
    let refused = fallbacks(trusting(Some("other"))).await.join("");
    assert!(refused.contains("the key isn't taken"), "{refused}");
    // The system doesn't know who answers, and hears no token.
    let unknown = fallbacks(remote(&base, Some("s3cret"))).await.join("");
    assert!(unknown.contains("can't be reached"), "{unknown}");
    let (other, _) = self::certificate();
    let other = remote(&base, None).trusting(other.as_bytes()).expect("PEM");
    let other = fallbacks(other).await.join("");
    assert!(other.contains("can't be reached"), "{other}");
    // In the clear nobody answers there.
    let address = format!("{base}#mine").parse().expect("an address");
    let clear = Remote::new(address, None, Limits::default()).expect("it may be asked");
    assert!(!fallbacks(clear).await.is_empty());
}

#[test]
fn a_token_goes_to_another_machine_only_with_tls() {
    let remote = |text: &str| {
        Remote::new(text.parse().expect("an address"), Token::new("s3cret"), Limits::default())
    };
    assert!(remote("https://10.0.0.7:50051#mine").is_ok());
    let error = remote("http://10.0.0.7:50051#mine").expect_err("it would be readable");
    assert!(error.to_string().contains("without TLS"), "{error}");
}
