//! Made-up secrets of the shapes that providers and programs give theirs, as their documentation draws them, each
//! in the places where secrets stand. Written without looking at what [`epitome::text::secrets`] knows.

use epitome_bench::dice::Dice;

/// A kind of secrets.
#[derive(Clone, Copy, Debug)]
pub struct SecretKind {
    /// Whose it is.
    pub name: &'static str,
    /// How it is written: `<` a class of characters and a number `>` for what is drawn; what stands in `«»` is the
    /// secret, the whole where nothing does.
    shape: &'static str,
}

/// A secret, and a text that it stands in.
#[derive(Clone, Debug)]
pub struct Canary {
    /// Whose it is.
    pub kind: SecretKind,
    /// Where it stands.
    pub place: &'static str,
    /// The text.
    pub said: String,
    /// What of the text must not be shown: every stretch of the secret that was drawn.
    pub drawn: Vec<String>,
}

macro_rules! kinds {
    ($($name:literal $shape:literal)*) => { &[$(SecretKind { name: $name, shape: $shape }),*] };
}

/// `a` letters and digits, `l` small letters and digits, `u` capitals and digits, `h` hexadecimal, `d` digits,
/// `w` letters, digits, `_` and `-`, `b` base64.
pub const KINDS: &[SecretKind] = kinds! {
    "Anthropic, API key" "sk-ant-api03-<w93>AA"
    "Anthropic, admin key" "sk-ant-admin01-<w93>AA"
    "Anthropic, OAuth token" "sk-ant-oat01-<w93>AA"
    "OpenAI, old key" "sk-<a20>T3BlbkFJ<a20>"
    "OpenAI, project key" "sk-proj-<w74>T3BlbkFJ<w74>"
    "OpenAI, service account" "sk-svcacct-<w74>T3BlbkFJ<w74>"
    "OpenRouter" "sk-or-v1-<h64>"
    "DeepSeek" "sk-<h32>"
    "Google, API key" "AIzaSy<w33>"
    "Google, access token" "ya29.a0<w140>"
    "Google, client secret" "GOCSPX-<w28>"
    "Google, refresh token" "1//0<w70>"
    "Google, service account" "\"private_key\": \"«-----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n-----END PRIVATE KEY-----»\\n\""
    "GitHub, personal token" "ghp_<a36>"
    "GitHub, OAuth token" "gho_<a36>"
    "GitHub, app token" "ghs_<a36>"
    "GitHub, refresh token" "ghr_<a36>"
    "GitHub, fine-grained token" "github_pat_<a22>_<a59>"
    "GitLab, personal token" "glpat-<w20>"
    "GitLab, routable token" "glpat-<w27>.<l2>.<l9>"
    "GitLab, runner token" "glrt-<w20>"
    "GitLab, trigger token" "glptt-<h40>"
    "AWS, access key" "AKIA<u16>"
    "AWS, temporary key" "ASIA<u16>"
    "AWS, secret key" "aws_secret_access_key = «<b40>»"
    "AWS, secret key in JSON" "\"SecretAccessKey\": \"«<b40>»\""
    "AWS, session token" "AWS_SESSION_TOKEN=«IQoJb3JpZ2luX2Vj<b240>»"
    "Azure, storage key" "AccountKey=«<b86>==»;EndpointSuffix=core.windows.net"
    "Azure, service bus" "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«<b43>=»"
    "Azure, client secret" "AZURE_CLIENT_SECRET=«<a3>8Q~<w34>»"
    "Slack, bot token" "xoxb-<d12>-<d13>-<a24>"
    "Slack, user token" "xoxp-<d12>-<d12>-<d13>-<h32>"
    "Slack, app token" "xapp-1-A<u10>-<d13>-<h64>"
    "Slack, webhook" "https://hooks.slack.com/services/T<u8>/B<u10>/<a24>"
    "Discord, bot token" "MTA<a23>.G<w5>.<w38>"
    "Discord, webhook" "https://discord.com/api/webhooks/<d18>/<w68>"
    "Telegram, bot token" "<d10>:AA<w33>"
    "Stripe, live key" "sk_live_51<a97>"
    "Stripe, test key" "sk_test_<a24>"
    "Stripe, restricted key" "rk_live_<a24>"
    "Stripe, webhook secret" "whsec_<a32>"
    "Twilio, API key" "SK<h32>"
    "Twilio, auth token" "TWILIO_AUTH_TOKEN=«<h32>»"
    "SendGrid" "SG.<w22>.<w43>"
    "Mailgun" "key-<h32>"
    "Mailchimp" "<h32>-us21"
    "Brevo" "xkeysib-<h64>-<a16>"
    "Resend" "re_<a8>_<a24>"
    "npm" "npm_<a36>"
    ".npmrc" "//registry.npmjs.org/:_authToken=«<h8>-<h4>-<h4>-<h4>-<h12>»"
    "PyPI" "pypi-AgEIcHlwaS5vcmc<w150>"
    "RubyGems" "rubygems_<h48>"
    "crates.io" "cio<a32>"
    "NuGet" "oy2<l43>"
    "Docker Hub" "dckr_pat_<w27>"
    "Hugging Face" "hf_<a34>"
    "Replicate" "r8_<a37>"
    "Groq" "gsk_<a52>"
    "xAI" "xai-<a80>"
    "Perplexity" "pplx-<a48>"
    "Together" "tgp_v1_<w43>"
    "NVIDIA" "nvapi-<w64>"
    "Pinecone" "pcsk_<a6>_<a63>"
    "LangSmith" "lsv2_pt_<h32>_<h10>"
    "ElevenLabs" "sk_<h48>"
    "Cohere" "COHERE_API_KEY=«<a40>»"
    "Weights & Biases" "WANDB_API_KEY=«<h40>»"
    "Databricks" "dapi<h32>"
    "DigitalOcean" "dop_v1_<h64>"
    "Heroku" "HRKU-AA<w58>"
    "Cloudflare" "CLOUDFLARE_API_TOKEN=«<w40>»"
    "Datadog" "DD_API_KEY=«<h32>»"
    "New Relic" "NRAK-<u27>"
    "Grafana" "glsa_<a32>_<h8>"
    "Sentry" "sntrys_<w160>"
    "Dynatrace" "dt0c01.<u24>.<u64>"
    "SonarQube" "sqp_<h40>"
    "Linear" "lin_api_<a40>"
    "Notion" "ntn_<d11><a35>"
    "Figma" "figd_<w40>"
    "Airtable" "pat<a14>.<h64>"
    "Atlassian" "ATATT3xFfGF0<w171>=<u8>"
    "Asana" "ASANA_ACCESS_TOKEN=«2/<d16>/<d16>:<h32>»"
    "HubSpot" "pat-na1-<h8>-<h4>-<h4>-<h4>-<h12>"
    "Shopify" "shpat_<h32>"
    "Square" "sq0atp-<w22>"
    "Postman" "PMAK-<h24>-<h34>"
    "Vault" "hvs.<w90>"
    "Terraform Cloud" "<a14>.atlasv1.<w67>"
    "Pulumi" "pul-<h40>"
    "Doppler" "dp.pt.<a43>"
    "PlanetScale" "pscale_tkn_<w43>"
    "Supabase" "sbp_<h40>"
    "Netlify" "nfp_<a36>"
    "Fly.io" "fm2_<b180>"
    "Render" "rnd_<a32>"
    "PostHog" "phx_<a43>"
    "Tailscale" "tskey-auth-<a12>CNTRL-<a32>"
    "CircleCI" "CCIPAT_<a22>_<h40>"
    "Artifactory" "AKCp8<a69>"
    "Mapbox" "sk.eyJ<w80>.<w22>"
    "Meta" "EAAC<a180>"
    "age" "AGE-SECRET-KEY-1<u58>"
    "1Password" "ops_eyJ<w300>"
    "JSON Web Token" "eyJhbGciOiJIUzI1NiJ9.eyJ<w60>.<w43>"
    "RSA key" "-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b43>=\n-----END RSA PRIVATE KEY-----"
    "OpenSSH key" "-----BEGIN OPENSSH PRIVATE KEY-----\n<b70>\n<b70>\n-----END OPENSSH PRIVATE KEY-----"
    "PGP key" "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n<b64>\n<b64>\n-----END PGP PRIVATE KEY BLOCK-----"
    "PostgreSQL" "postgres://app:«<a16>»@db.example:5432/shop"
    "MySQL" "mysql://root:«<a14>»@127.0.0.1/shop"
    "MongoDB" "mongodb+srv://app:«<a18>»@cluster0.example.net/?retryWrites=true"
    "Redis" "redis://:«<a20>»@cache:6379/0"
    "AMQP" "amqps://svc:«<a12>»@mq.example/vhost"
    "JDBC" "jdbc:postgresql://db/shop?user=app&password=«<a14>»"
    "ADO.NET" "Server=db;Database=shop;User Id=sa;Password=«<a14>»;Encrypt=true"
    "Git remote" "https://deploy:«<a24>»@git.example/shop.git"
    "Bearer" "Authorization: Bearer «<a40>»"
    "Basic" "Authorization: Basic «YXBwOlh<a20>=»"
    "Named in an environment" "APP_SECRET=«<a32>»"
    "Named in YAML" "  client_secret: «<a28>»"
    "Named in JSON" "\"api_key\": \"«<a32>»\""
    "Named in TOML" "signing-key = \"«<h64>»\""
    "A flag" "deploy --token «<a32>» --now"
    "Said by a person" "the password is «<a14>», don't tell anybody"
    "Kubernetes" "  password: «<b40>»"
    "xml-password" "<password>«<a12>»</password>"
    "config-add" "<add key=\"ApiKey\" value=\"«<a32>»\" />"
    "k8s-env" "{\"name\":\"DB_PASSWORD\",\"value\":\"«<a16>»\"}"
    "k8s-env-yaml2" "        - name: API_TOKEN\n          value: \"«<a32>»\""
    "ecs-env2" "[{\"Name\": \"MYSQL_ROOT_PASSWORD\", \"Value\": \"«<l12>7»\"}]"
    "docker-auth2" "\"registry.example.com\": {\n  \"auth\": \"«<b32>»\"\n}"
    "mysql-p" "mysql -u root -p«<a12>» shop < dump.sql"
    "redis-auth" "127.0.0.1:6379> AUTH «<a20>»"
    "setx" "setx GITHUB_TOKEN «<a36>»"
    "ps-env" "$env:API_KEY = \"«<a32>»\""
    "fish2" "set -gx AWS_SECRET_ACCESS_KEY «<b40>»"
    "php-define" "define('DB_PASSWORD', '«<a14>»');"
    "php-array" "'password' => '«<a12>»',"
    "auth-token" "Authorization: Token «<h40>»"
    "auth-bearer-lower" "-H \"authorization: bearer «<a32>»\""
    "auth-basic-lc" "authorization: basic «<b32>»"
    "auth-bot" "Authorization: Bot «<a24>.<a6>.<w27>»"
    "auth-genie" "Authorization: GenieKey «<h8>-<h4>-<h4>-<h4>-<h12>»"
    "auth-json" "\"Authorization\": \"Bearer «<a24>»\""
    "x-api-key2" "-H 'x-api-key: «<h32>»'"
    "x-vault" "X-Vault-Token: «<a26>»"
    "private-token" "PRIVATE-TOKEN: «<w20>»"
    "ocp-apim" "Ocp-Apim-Subscription-Key: «<h32>»"
    "cookie2" "Set-Cookie: connect.sid=s%3A«<w32>.<b43>»; Path=/; HttpOnly"
    "cookie4" "set-cookie: _session_id=«<h32>»; path=/; secure"
    "cookie6" "\"cookie\": \"auth_session=«<a40>»; lang=en\""
    "netrc" "machine api.heroku.com login me@example.com password «<h36>»"
    "pgpass2" "localhost:5432:*:postgres:«<a12>»"
    "sas2" "SharedAccessSignature=sv=2021-10-04&ss=btqf&srt=sco&sig=«<b43>%3D»"
    "sas-sb" "SharedAccessSignature sr=https%3a%2f%2fns&sig=«<a30>%2f<a11>%3d»&se=1700000000&skn=Root"
    "gcs-signed" "https://storage.googleapis.com/b/o?GoogleAccessId=x&Expires=1&Signature=«<a80>%3D»"
    "url-token" "https://ci.example.com/hook?token=«<h32>»"
    "url-apikey" "GET /v1/data?apikey=«<a24>» HTTP/1.1"
    "url-client" "POST client_id=web&client_secret=«<a32>»&grant_type=x"
    "url-userinfo-at" "amqp://svc:«p@ss<a10>»@mq:5672"
    "url-oauth2" "https://oauth2:«<a20>»@gitlab.example.com/x.git"
    "pem-noheader2" "«<b64>»\n«<b64>»\n«<b30>==»\n-----END RSA PRIVATE KEY-----"
    "pem-encrypted" "-----BEGIN ENCRYPTED PRIVATE KEY-----\n«<b64>»\n-----END ENCRYPTED PRIVATE KEY-----"
    "pem-python" "key = \"\"\"-----BEGIN PRIVATE KEY-----\n«<b64>»\n«<b64>»\n-----END PRIVATE KEY-----\n\"\"\""
    "pem-log" "  12 | -----BEGIN PRIVATE KEY-----\n  13 | «<b64>»\n  14 | -----END PRIVATE KEY-----"
    "putty2" "Private-Lines: 1\n«<b64>»\nPrivate-MAC: «<h64>»"
    "wireguard2" "PresharedKey = «<b43>=»"
    "yaml-block" "client_secret: |\n  «<a32>»"
    "yaml-anchor" "password: &pw «<a16>»"
    "json-nl" "\"password\":\n    \"«<a14>»\""
    "table-md2" "| API key | `«<a32>»` |"
    "table-html" "<td>API token</td><td>«<a32>»</td>"
    "html-hidden" "<input type=\"hidden\" name=\"csrf_token\" value=\"«<a40>»\">"
    "eth-key" "PRIVATE_KEY=0x«<h64>»"
    "wallet-wif" "5«K<a49>»"
    "wallet-xprv" "xprv9s21ZrQH143K«<a96>»"
    "totp2" "TOTP secret: JBSWY3DP«<u24>»"
    "conn-odbc" "Driver={SQL Server};Server=db;Uid=sa;Pwd=«<a12>»;"
    "conn-iothub" "HostName=x.azure-devices.net;DeviceId=d;SharedAccessKey=«<b43>=»"
    "conn-mongo-cli" "mongosh \"mongodb://x\" -u root -p «<a14>»"
    "conn-alter" "ALTER USER postgres WITH PASSWORD '«<a12>»';"
    "conn-snowflake" "snowsql -a acct -u bob --password «<a12>»"
    "docker-arg" "ARG NPM_TOKEN=«<a36>»"
    "helm" "helm upgrade x --set auth.password=«<a12>»"
    "az-login" "az login --service-principal -u id -p «<a34>» --tenant t"
    "gh-secret" "gh secret set API_KEY --body \"«<a32>»\""
    "openssl-pass" "openssl rsa -in k.pem -passin pass:«<a12>»"
    "z7" "7z a -p«<a14>» x.7z f"
    "terraform2" "variable \"db_password\" {\n  default = \"«<a14>»\"\n}"
    "npmrc-auth" "_auth=«<b40>»"
    "gradle" "signing.password=«<a12>»"
    "properties2" "jwt.secret = «<a32>»"
    "rails" "secret_key_base: «<h128>»"
    "django" "SECRET_KEY = 'django-insecure-«<a30>!@#<a10>»'"
    "wp-salt" "define('NONCE_SALT', '«<a20>|<a20>»');"
    "js-obj" "apiKey: \"«<a32>»\","
    "ts-priv" "private readonly token: string = '«<a32>»';"
    "go" "const apiToken string = \"«<a32>»\""
    "rust2" ".bearer_auth(\"«<a32>»\")"
    "py-auth" "requests.get(u, auth=(\"admin\", \"«<a14>»\"))"
    "js-env" "process.env.API_SECRET = '«<a32>»'"
    "ruby" "ENV['SECRET_TOKEN'] = '«<h64>»'"
    "setpass" "user.set_password(\"«<a12>»\")"
    "log-grafana" "Admin password: «<a40>»"
    "log-token" "token=«<a24>» expires_in=3600"
    "log-refresh" "\"refresh_token\": \"«<a64>»\""
    "log-jup" "http://localhost:8888/?token=«<h48>»"
    "chat4" "the api key: «<a32>»"
    "chat10" "passcode = «<a12>»"
    "kubeconfig2" "    token: «<a40>»"
    "fernet" "FERNET_KEY=«<w43>=»"
    "salt" "SESSION_SECRET=«<a32>»"
    "hmac" "HMAC_KEY=«<h64>»"
    "credentials2" "CREDENTIALS=bob:«<a14>»"
    "access-key" "\"accessKeySecret\":\"«<a30>»\""
    "deploy-key" "DEPLOY_KEY=«<a40>»"
    "anthropic" "sk-ant-api03-<w93>AA"
    "aws-bedrock" "ABSKQmVkcm9ja0FQSUtleS<b110>"
    "gcp-sa" "\"private_key_id\": \"«<h40>»\""
    "azure-ad" "ARM_CLIENT_SECRET=«<a3>8Q~<w34>»"
    "gitlab-feed" "glft-<w20>"
    "gitlab-ffc" "glffct-<w20>"
    "slack-cfg" "xoxe.xoxp-1-<a166>"
    "slack-d" "xoxd-<a60>"
    "twilio-sid" "TWILIO_API_SECRET=«<a32>»"
    "npm" "npm_<a36>"
    "google-ai" "AQ.Ab8<w47>"
    "databricks" "dapi<h32>-2"
    "vercel2" "vcp_<a56>"
    "supabase2" "sbp_v0_<h40>"
    "cloudflare-global" "X-Auth-Key: «<h37>»"
    "digitalocean" "doo_v1_<h64>"
    "vault-batch" "hvb.<w140>"
    "doppler" "dp.st.prd.<a43>"
    "linear-oauth" "lin_oauth_<h64>"
    "atlassian2" "ATCTT3xFfGN0<w180>"
    "shopify" "shpss_<h32>"
    "square" "EAAA<w60>"
    "paypal" "access_token$production$<l16>$<h32>"
    "telegram" "bot<d10>:AA<w33>"
    "mailgun" "pubkey-<h32>"
    "sentry" "sntryu_<h64>"
    "datadog-app" "DD_APP_KEY=«<h40>»"
    "newrelic-lic" "<h36>FFFFNRAL"
    "grafana-old" "eyJrIjoi<b80>"
    "jwt" "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ<w80>.<w43>"
    "paseto" "v2.local.<w120>"
    "flutterwave" "FLWSECK_TEST-<h32>-X"
    "duffel" "duffel_test_<w43>"
    "clojars" "CLOJARS_<l60>"
    "contentful2" "CMA: CFPAT-«<w43>»"
    "fly" "FlyV1 fm2_<b120>"
    "intercom" "INTERCOM_TOKEN=«dG9r<b56>=»"
    "k6" "K6_CLOUD_TOKEN=«<h64>»"
    "launchdarkly2" "api-<h8>-<h4>-<h4>-<h4>-<h12>"
    "mapbox" "sk.eyJ<w80>.<w22>"
    "prefect" "pnu_<l36>"
    "readme" "rdme_<l70>"
    "scalingo" "tk-us-<w48>"
    "shippo" "shippo_live_<h40>"
    "sourcegraph" "sgp_<h16>_<h40>"
    "sumologic" "SUMO_ACCESS_KEY=«<a64>»"
    "typeform" "tfp_<w59>"
    "yandex2" "y0_<w50>"
    "zendesk" "ZENDESK_TOKEN=«<a40>»"
    "mistral" "MISTRAL_API_KEY=«<a32>»"
    "voyage" "pa-<w43>"
    "deepgram" "DEEPGRAM_API_KEY=«<h40>»"
    "elevenlabs" "sk_<h48>"
    "neon" "napi_<l64>"
    "turso" "TURSO_AUTH_TOKEN=«eyJ<w60>.eyJ<w60>.<w86>»"
    "railway" "RAILWAY_TOKEN=«<h8>-<h4>-<h4>-<h4>-<h12>»"
    "auth0" "AUTH0_CLIENT_SECRET=«<w64>»"
    "buildkite2" "bkct_<a40>"
    "honeycomb" "hcaik_<l58>"
    "posthog" "phx_<a43>"
    "segment" "SEGMENT_WRITE_KEY=«<a32>»"
    "langfuse" "sk-lf-<h8>-<h4>-<h4>-<h4>-<h12>"
    "e2b" "e2b_<h40>"
};

/// Characters of a class.
fn class(letter: char) -> &'static str {
    match letter {
        'a' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'l' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'h' => "0123456789abcdef",
        'd' => "0123456789",
        'w' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        other => unreachable!("{other} is no class"),
    }
}

/// A secret: what leads to it, itself and what follows it, and the stretches that were drawn.
struct Drawn {
    text: String,
    /// The bytes of `text` that are the secret.
    secret: std::ops::Range<usize>,
    stretches: Vec<String>,
}

/// Whether a class of characters and a number stand there.
fn is_class(text: &str) -> bool {
    matches!(text.as_bytes(), [b'a' | b'l' | b'u' | b'h' | b'd' | b'w' | b'b', b'0'..=b'9', ..])
}

fn drawn(shape: &str, dice: &mut Dice) -> Drawn {
    let (mut text, mut stretches) = (String::new(), Vec::new());
    let (mut from, mut to) = (0, None);
    let mut chars = shape.chars();
    while let Some(c) = chars.next() {
        match c {
            '«' => from = text.len(),
            '»' => to = Some(text.len()),
            '<' if is_class(chars.as_str()) => {
                let of: Vec<char> = class(chars.next().expect("a class")).chars().collect();
                let count: String = chars.by_ref().take_while(|c| *c != '>').collect();
                let count: usize = count.parse().expect("a number");
                // What is drawn ends with no sign, as real ones nearly always do.
                let one: String = (0..count).map(|_| of[dice.below(of.len())]).collect();
                let one = one.trim_end_matches(['-', '_', '/', '+']).to_owned();
                let filled = format!("{one}{}", "7".repeat(count - one.len()));
                text.push_str(&filled);
                stretches.push(filled);
            }
            c => text.push(c),
        }
    }
    let to = to.unwrap_or(text.len());
    Drawn { secret: from..to, text, stretches }
}

/// JSON's escapes of a text.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A text in base64.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let all = group.iter().fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
        let all = all << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = DIGITS[all >> (18 - 6 * at) & 63];
            out.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// Canaries of every kind in every place, `each` of both; the same `seed` gives the same.
pub fn canaries(seed: u64, each: usize) -> Vec<Canary> {
    let mut dice = Dice::new(seed);
    let mut all = Vec::new();
    for kind in KINDS {
        for place in PLACES {
            for _ in 0..each {
                let Drawn { text, secret, stretches } = drawn(kind.shape, &mut dice);
                let said = said(place, &text, &text[secret]);
                // In base64 none of it stands as it is.
                let drawn = if place.contains("base64") {
                    let words =
                        said.split(|c: char| !c.is_ascii_alphanumeric() && !"+/".contains(c));
                    words.filter(|word| word.len() > 20).map(str::to_owned).collect()
                } else {
                    stretches.iter().filter(|one| one.len() >= 8).cloned().collect()
                };
                all.push(Canary { kind: *kind, place, said, drawn });
            }
        }
    }
    all
}

/// Texts that only look as if they held a secret, `each` of every kind; the same `seed` gives the same.
pub fn harmless(seed: u64, each: usize) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let rows = include_str!("../data/harmless.txt").lines().filter(|row| !row.starts_with("# "));
    let unescaped = |row: &str| row.replace("\\n", "\n").replace("\\t", "\t");
    rows.flat_map(|row| std::iter::repeat_n(row, each))
        .map(|row| unescaped(&drawn(row, &mut dice).text))
        .collect()
}

/// Where secrets stand.
pub const PLACES: &[&str] = &[
    "alone",
    "in a sentence",
    "in JSON",
    "in JSON in JSON",
    "in a shell command",
    "in a log, coloured",
    "in base64",
    "in base64 in JSON",
];

fn said(place: &str, text: &str, secret: &str) -> String {
    match place {
        "alone" => text.to_owned(),
        "in a sentence" => format!("Use this one for now: {text}, and I change it later. Thanks!"),
        "in JSON" => {
            format!("{{\"role\":\"user\",\"content\":\"first\\n{}\\nlast\"}}", escaped(text))
        }
        "in JSON in JSON" => {
            let inner = format!("{{\"command\":\"echo \\\"{}\\\"\"}}", escaped(&escaped(text)));
            format!("{{\"arguments\":\"{}\"}}", escaped(&inner))
        }
        "in a shell command" => format!("$ curl -H '{text}' https://api.example/v1 && echo done"),
        "in a log, coloured" => {
            let coloured = text.replace(secret, &format!("\u{1b}[1;33m{secret}\u{1b}[0m"));
            // Where a name tells it, colour between both hides neither.
            if text == secret {
                format!("INFO  {coloured}")
            } else {
                format!("INFO  \u{1b}[36m{text}\u{1b}[0m")
            }
        }
        "in base64" => format!("data: {}\n", base64(&format!("x: {text}\n"))),
        "in base64 in JSON" => {
            format!(
                "{{\"content\":\"{}\",\"encoding\":\"base64\"}}",
                base64(&format!("x: {text}\n"))
            )
        }
        other => unreachable!("{other} is no place"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_and_each_holds_what_it_says() {
        assert!(KINDS.len() >= 60, "{}", KINDS.len());
        for canary in canaries(1, 1) {
            assert!(!canary.drawn.is_empty(), "{canary:?}");
            assert!(
                canary.drawn.iter().all(|one| canary.said.contains(one.as_str())),
                "{canary:?}"
            );
        }
    }

    #[test]
    fn base64_is_as_others_write_it() {
        assert_eq!(base64("hello!!"), "aGVsbG8hIQ==");
        assert_eq!(base64("hello!"), "aGVsbG8h");
    }
}
