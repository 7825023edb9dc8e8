//! Encrypted connections to a PostgreSQL server, and how sure it has to be who answers.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How sure it has to be who answers: `sslmode`, as PostgreSQL's own clients read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sure {
    /// `require`: encrypted, but the server isn't verified.
    NotAtAll,
    /// `verify-ca`: an authority that is trusted vouches for whoever answers.
    Vouched,
    /// `verify-full`: it vouches for a server of that name.
    Named,
}

/// What a URL says of encryption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Nothing.
    Unsaid,
    /// `sslmode=disable`.
    None,
    Asked(Asked),
}

/// The encryption that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    sure: Sure,
    /// `sslrootcert`: certificates of the authorities that are trusted; without it, the system's are.
    roots: Option<PathBuf>,
}

impl Encryption {
    /// The URL without the parameters that the driver doesn't know, and their values.
    pub(super) fn read(url: &str) -> Result<(String, Self), String> {
        let (user, rest) = url.split_at(host_of(url));
        let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut mode, mut roots, mut is_system, mut kept) = (None, None, false, Vec::new());
        for one in query.split('&').filter(|one| !one.is_empty()) {
            let (name, value) = one.split_once('=').unwrap_or((one, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => mode = Some(value),
                "sslrootcert" if value == "system" => (roots, is_system) = (None, true),
                "sslrootcert" => roots = Some(PathBuf::from(value)),
                _ => kept.push(one),
            }
        }
        let asked = |sure| Encryption::Asked(Asked { sure, roots: roots.clone() });
        let said = match mode.as_deref() {
            // Anybody may have what some public authority vouches for: only the name tells.
            None | Some("verify-full") if is_system => asked(Sure::Named),
            Some(other) if is_system => {
                return Err(format!(
                    "sslmode={other} isn't supported with sslrootcert=system; use verify-full"
                ));
            }
            Some("verify-ca") if roots.is_none() => {
                return Err("sslmode=verify-ca needs sslrootcert=FILE".to_owned());
            }
            Some("disable") if roots.is_none() => Encryption::None,
            // Where authorities are named they are asked, as PostgreSQL's own clients do.
            Some("require") if roots.is_some() => asked(Sure::Vouched),
            Some("require") => asked(Sure::NotAtAll),
            Some("verify-ca") => asked(Sure::Vouched),
            Some("verify-full") => asked(Sure::Named),
            None if roots.is_some() => asked(Sure::Named),
            None => Encryption::Unsaid,
            Some(other) => {
                return Err(format!(
                    "sslmode={other} isn't supported{}; use disable, require, verify-ca or verify-full",
                    if roots.is_some() { " where sslrootcert is named" } else { "" },
                ));
            }
        };
        let mark = if kept.is_empty() { "" } else { "?" };
        Ok((format!("{user}{base}{mark}{}", kept.join("&")), said))
    }
}

/// Where a URL's host begins: behind the first `@`, whatever stands before it, as the driver reads it.
fn host_of(url: &str) -> usize {
    let start = url.find("://").map_or(0, |at| at + 3);
    url[start..].find('@').map_or(start, |at| start + at + 1)
}

impl Asked {
    /// As for another machine without `sslmode`: conversations are private.
    pub(super) fn by_name() -> Self {
        Asked { sure: Sure::Named, roots: None }
    }

    /// What makes connections so.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let any_name = |vouching| AnyName { vouching, provider: Arc::clone(&provider) };
        let verifier: Arc<dyn ServerCertVerifier> = match self.sure {
            Sure::NotAtAll => Arc::new(any_name(None)),
            Sure::Vouched => Arc::new(any_name(Some(self.vouching(&provider)?))),
            Sure::Named => self.vouching(&provider)?,
        };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        // Without it servers refuse `sslnegotiation=direct`.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }

    fn vouching(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<WebPkiServerVerifier>, String> {
        let roots = Arc::new(match &self.roots {
            Some(file) => in_file(file)?,
            None => of_system()?,
        });
        WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
            .build()
            .map_err(|error| error.to_string())
    }
}

fn in_file(file: &Path) -> Result<RootCertStore, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("sslrootcert={}: {why}", file.display());
    let mut roots = RootCertStore::empty();
    for one in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
        let one = one.map_err(|error| wrong(&error))?;
        roots.add(one).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() { Err(wrong(&"no certificate is in it")) } else { Ok(roots) }
}

fn of_system() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(format!(
            "the system has no CA certificates{why}: name some with sslrootcert=FILE"
        ));
    }
    Ok(roots)
}

/// Whether it was refused because of who answered.
pub(super) fn is_distrust(error: &tokio_postgres::Error) -> bool {
    sources(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .filter_map(|error| error.get_ref()?.downcast_ref::<rustls::Error>())
        .any(|error| matches!(error, rustls::Error::InvalidCertificate(_)))
}

/// Whether the system or the network failed, which may pass.
pub(super) fn is_passing(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || (sources(error).any(<dyn Error>::is::<io::Error>) && !is_distrust(error))
}

fn sources(error: &tokio_postgres::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

/// Whoever holds the key of the certificate that is shown, under whatever name.
#[derive(Debug)]
struct AnyName {
    /// Who has to vouch for it, if anybody.
    vouching: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(vouching) = &self.vouching else { return Ok(ServerCertVerified::assertion()) };
        match vouching.verify_server_cert(certificate, between, name, status, now) {
            // The name is looked at last, when all else was found to be right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            done => done,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use epitome::word_list::words;

    use super::*;

    #[test]
    fn urls_set_the_verification_of_the_server() {
        let read = |query: &str| Encryption::read(&format!("postgres://me@db/app{query}"));
        let asked = |sure, roots: Option<&str>| {
            Encryption::Asked(Asked { sure, roots: roots.map(PathBuf::from) })
        };
        for (query, rest, said) in [
            ("", "", Encryption::Unsaid),
            ("?connect_timeout=3", "?connect_timeout=3", Encryption::Unsaid),
            ("?sslmode=disable", "", Encryption::None),
            ("?sslmode=require&a=b", "?a=b", asked(Sure::NotAtAll, None)),
            ("?sslmode=verify-ca&sslrootcert=a", "", asked(Sure::Vouched, Some("a"))),
            ("?a=b&sslmode=verify-full", "?a=b", asked(Sure::Named, None)),
            ("?sslmode=verify-full&sslrootcert=system", "", asked(Sure::Named, None)),
            ("?sslmode=require&sslrootcert=a%20b.pem", "", asked(Sure::Vouched, Some("a b.pem"))),
            ("?sslrootcert=system", "", asked(Sure::Named, None)),
            ("?sslrootcert=/ca.pem", "", asked(Sure::Named, Some("/ca.pem"))),
        ] {
            assert_eq!(read(query), Ok((format!("postgres://me@db/app{rest}"), said)), "{query}");
        }
        // Whoever names an authority doesn't mean to be overheard.
        for query in words!(
            "?sslmode=prefer ?sslmode=disable&sslrootcert=a ?sslmode= ?sslmode=verify-ca \
             ?sslmode=require&sslrootcert=system ?sslmode=disable&sslrootcert=system"
        ) {
            assert!(read(query).is_err(), "{query}");
        }
        let odd = Encryption::read("postgres://me:pa?x@db/app?sslmode=require");
        let rest = "postgres://me:pa?x@db/app".to_owned();
        assert_eq!(odd, Ok((rest, asked(Sure::NotAtAll, None))), "of a password nothing is read");
    }

    #[test]
    fn what_vouches_for_nobody_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("roots.pem");
        let told = || {
            let asked = Asked { sure: Sure::Named, roots: Some(file.clone()) };
            asked.connector().err().expect("nobody is trusted")
        };
        assert!(told().contains("roots.pem"), "{}", told());
        std::fs::write(&file, "nothing of that kind").expect("written");
        assert!(told().contains("no certificate is in it"), "{}", told());
    }
}
