//! Whether a model could be asked: the list of models that its server gives.

use std::sync::Mutex;

use epitome::summarize::{Spent, SummarizeError};
use serde_json::Value;
use tokio::time::timeout;

use crate::call::{Call, Failed, LARGEST, silent, too_long, unreadable};
use crate::model::Model;

impl Model {
    /// The models that the server lists, by the names that they have there. It is told the key and nothing
    /// else, and takes nothing for it.
    ///
    /// # Errors
    /// Nobody answers there, the key isn't taken, or what comes back is no list.
    pub async fn listed(&self) -> Result<Vec<String>, SummarizeError> {
        let limit = self.limits.total;
        let listed = timeout(limit, self.list()).await.unwrap_or_else(|_| Err(silent(limit)));
        listed.map_err(|failed| failed.told(self))
    }

    async fn list(&self) -> Result<Vec<String>, Failed> {
        let (url, spent) = (self.list_url(), Mutex::new(Spent::default()));
        let call = Call { url: &url, ..Call::new(self, &spent, self.until()) };
        let sending = call.client.get(url.clone()).headers(call.headers.clone()).send();
        let mut response = sending.await.map_err(|error| call.broken(&error))?;
        if !response.status().is_success() {
            return Err(call.refused(response).await);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| call.broken(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST {
                return Err(too_long());
            }
        }
        let answer: Value = serde_json::from_slice(&body).map_err(|error| unreadable(&error))?;
        let list = answer["data"].as_array().or(answer["models"].as_array());
        let names = list.into_iter().flatten().filter_map(|model| {
            let name = model["id"].as_str().or(model["name"].as_str())?;
            Some(self.without_key(name.strip_prefix("models/").unwrap_or(name)))
        });
        Ok(names.collect())
    }
}
