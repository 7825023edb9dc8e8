//! The texts by which providers say that a request is too long (PROVIDERS.md B.5).

use super::LimitUnit;

/// One text.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Who says so.
    pub provider: &'static str,
    /// The unit of the counts.
    pub unit: LimitUnit,
    /// The text, in lower case; `{used}`, `{reply}` and `{limit}` are figures, `{*}` is anything short.
    pub text: &'static str,
}

macro_rules! patterns {
    ($($provider:literal $unit:ident: $($text:literal),+;)*) => {
        /// All texts, the more specific ones first.
        pub const PATTERNS: &[Pattern] = &[
            $($(Pattern { provider: $provider, unit: LimitUnit::$unit, text: $text },)+)*
        ];
    };
}

patterns! {
    "anthropic" Tokens:
        "prompt is too long: {used} tokens > {limit} maximum",
        "input length and `max_tokens` exceed context limit: {used} + {reply} > {limit}";
    "openai" Tokens:
        "maximum context length is {limit} tokens. however, you requested {*}({used} in the messages, {used} in the functions, and {reply} in the completion",
        "maximum context length is {limit} tokens. however, you requested {*}({used} in the messages, {reply} in the completion",
        "maximum context length is {limit} tokens. however, your messages resulted in {used} tokens",
        "input tokens exceed the configured limit of {limit} tokens{*}resulted in {used} tokens",
        "input tokens exceed the configured limit of {limit} tokens";
    "openai" Characters:
        "string too long. expected a string with maximum length {limit}, but got a string with length {used}",
        "string too long. expected a string with maximum length";
    "gemini" Tokens:
        "input token count ({used}) exceeds the maximum number of tokens allowed ({limit})",
        "input token count exceeds the maximum number of tokens allowed {limit}",
        "exceeds the maximum number of tokens allowed";
    "gemini" Bytes:
        "request payload size exceeds the limit: {limit} bytes",
        "request payload size exceeds";
    "bedrock" Tokens:
        "prompt tokens ({used}) exceed model maximum ({limit})",
        "input is too long for requested model",
        "input tokens exceeded";
    "bedrock" Bytes:
        "too many total text bytes";
    "vllm" Tokens:
        "decoder prompt (length {used}) is longer than the maximum model length of {limit}",
        "is longer than the maximum model length of {limit}",
        "maximum context length is {limit} tokens. however, you requested {reply} output tokens and your prompt contains at least {used} input tokens",
        "maximum context length is {limit} tokens. however, you requested {used} tokens",
        "you passed {used} input tokens and requested {reply} output tokens. however, the model's context length is only {limit} tokens",
        "exceeds the max_model_len of {limit}",
        "exceeds the max_model_len",
        "maximum context length is {limit} tokens";
    "sglang" Tokens:
        "input length ({used} tokens) exceeds the maximum allowed length ({limit} tokens)",
        "input ({used} tokens) is longer than the model's context length ({limit} tokens)",
        "is longer than the model's context length",
        "requested token count exceeds the model's maximum context length of {limit} tokens",
        "requested token count exceeds the model's maximum context length";
    "tgi" Tokens:
        "`inputs` must have less than {limit} tokens. given: {used}",
        "`inputs` tokens + `max_new_tokens` must be <= {limit}. given: {used} `inputs` tokens and {reply} `max_new_tokens`",
        "`inputs` tokens + `max_new_tokens` must be";
    "llama.cpp" Tokens:
        "request ({used} tokens) exceeds the available context size ({limit} tokens)",
        // Members of an object, in order of their names.
        "n_ctx: {limit}\nn_prompt_tokens: {used}\ntype: exceed_context_size_error",
        "exceeds the available context size",
        "exceed_context_size_error";
    "lm-studio" Tokens:
        "initial prompt is greater than the context length (n_keep: {used}>= n_ctx: {limit})",
        "initial prompt is greater than the context length",
        "cannot truncate prompt with n_keep ({used}) >= n_ctx ({limit})",
        "trying to keep the first {used} tokens when context the overflows{*}context length of only {limit} tokens";
    "ollama" Tokens:
        "the input length exceeds the context length",
        "the prompt is longer than the context length",
        "exceeded max context length";
    "copilot" Tokens:
        "prompt token count of {used} exceeds the limit of {limit}",
        "model_max_prompt_tokens_exceeded";
    "cohere" Tokens:
        "tokens in the prompt cannot exceed {limit} - received {used}";
    "dashscope" Tokens:
        "range of input length should be [1, {limit}]";
    "zai" Tokens:
        "prompt exceeds max length";
    "cerebras" Tokens:
        "current length is {used} while limit is {limit}";
    "mistral" Tokens:
        "prompt contains {used} tokens{*}too large for model with {limit} maximum context length",
        "too large for model with {limit} maximum context length",
        "too large for model with";
    "xai" Tokens:
        "maximum prompt length is {limit} but the request contains {used} tokens",
        "maximum prompt length is {limit}",
        "maximum prompt length is";
    "kimi" Tokens:
        "exceeded model token limit: {limit} (requested: {used})",
        "exceeded model token limit";
    "minimax" Tokens:
        "context window exceeds limit";
    "other" Tokens:
        "maximum input length is {limit} tokens",
        "input too long: {used} input tokens, limit is {limit}",
        "exceed context limit",
        "model's maximum context limit";
    "openai" Tokens:
        "this model's maximum context length is",
        "your input exceeds the context window of this model",
        "exceed customer model maximum",
        "context_length_exceeded";
    "anthropic" Bytes:
        "request_too_large",
        "request exceeds the maximum size";
    "anthropic" Tokens:
        "prompt is too long";
}
