//! The certificate that this replica shows: signed in memory by the authority that all share, and
//! signed anew in time, or when the authority changes. Its key is written nowhere.

use std::sync::Arc;

use anyhow::Result;
use apiserver::tls::ServingCertificate;
use jiff::Timestamp;

use super::rotation::{Timing, two_thirds};
use crate::certificates::{Authority, Subject, Usage};

/// What this replica shows to clients.
pub(super) struct Serving {
    subject: Subject<'static>,
    certificate: Option<Arc<ServingCertificate>>,
    signed: Option<Signed>,
}

/// By whom and until when.
struct Signed {
    authority: String,
    renew: Timestamp,
}

impl Serving {
    /// A certificate for `subject`, which there is after the first [`Serving::sign`].
    pub(super) fn new(subject: Subject<'static>) -> Self {
        Self { subject, certificate: None, signed: None }
    }

    /// A certificate that somebody else looks after.
    pub(super) fn given(certificate: Arc<ServingCertificate>) -> Self {
        Self { subject: Subject::default(), certificate: Some(certificate), signed: None }
    }

    pub(super) fn certificate(&self) -> Option<Arc<ServingCertificate>> {
        self.certificate.clone()
    }

    /// The certificate of the authority that signed the one shown.
    #[cfg(test)]
    pub(super) fn signer(&self) -> Option<&str> {
        self.signed.as_ref().map(|signed| signed.authority.as_str())
    }

    /// Sees to it that what is shown is signed by `authority` and valid for a good while, and says
    /// when to come again.
    ///
    /// # Errors
    /// When it cannot be signed; what was shown still is.
    pub(super) fn sign(
        &mut self,
        authority: &Authority,
        now: Timestamp,
        timing: &Timing,
    ) -> Result<Timestamp> {
        if let Some(signed) = &self.signed
            && signed.authority == authority.certificate
            && now < signed.renew
        {
            return Ok(signed.renew);
        }
        let issued = authority.issue(self.subject.clone(), Usage::Server, now, timing.serving)?;
        let (chain, key) = (issued.certificate.as_bytes(), issued.key.as_bytes());
        match &self.certificate {
            Some(certificate) => certificate.replace(chain, key)?,
            None => self.certificate = Some(ServingCertificate::from_pem(chain, key)?),
        }
        tracing::info!(not_after = %issued.not_after, "signed a serving certificate");
        let renew = two_thirds(now, issued.not_after);
        self.signed = Some(Signed { authority: authority.certificate.clone(), renew });
        Ok(renew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_signed_anew_in_time_and_for_another_authority() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let timing = Timing::default();
        let good = timing.serving * 2 / 3;
        let one = Authority::generate("one", now, timing.authority).unwrap();
        let two = Authority::generate("two", now, timing.authority).unwrap();
        let mut serving = Serving::new(Subject::default());
        assert!(serving.certificate().is_none());

        let renew = serving.sign(&one, now, &timing).unwrap();
        assert_eq!(renew, now + good);
        let shown = serving.certificate().unwrap();
        assert_eq!(serving.sign(&one, now + good / 2, &timing).unwrap(), renew);
        assert_eq!(serving.sign(&one, renew, &timing).unwrap(), renew + good);
        assert_eq!(serving.sign(&two, renew, &timing).unwrap(), renew + good);
        assert_eq!(serving.signer(), Some(two.certificate.as_str()));
        assert!(Arc::ptr_eq(&shown, &serving.certificate().unwrap()));
    }
}
