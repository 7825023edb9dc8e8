//! PROVIDERS.md B.1.1, B.1.5 and B.1.6: Anthropic's cache markers, and what stands around the messages.

use serde_json::Value;

pub(super) fn accepts(body: &Value, messages: &[Value]) -> Result<(), String> {
    if messages.len() > 100_000 {
        return Err("messages: List should have at most 100000 items after validation".to_owned());
    }
    markers(body, messages)?;
    let thinking = &body["thinking"];
    if let (true, Some(budget)) =
        (thinking["type"] == "enabled", thinking["budget_tokens"].as_u64())
    {
        if budget < 1024 {
            return Err("budget_tokens: Input should be greater than or equal to 1024".to_owned());
        }
        if body["tools"].is_null() && body["max_tokens"].as_u64().is_some_and(|most| budget >= most)
        {
            return Err("`max_tokens` must be greater than `thinking.budget_tokens`.".to_owned());
        }
    }
    let editing = &body["context_management"];
    if !editing.is_null() && !body["compaction"].is_null() {
        return Err("context_management and compaction are mutually exclusive".to_owned());
    }
    if !body["compaction"].is_null() {
        let choice = body["tool_choice"]["type"].as_str().unwrap_or_default();
        let stops = body["stop_sequences"].as_array().is_some_and(|all| !all.is_empty());
        let output = &body["output_config"];
        let budget = &output["task_budget"]["remaining"];
        let blocks = messages.last().filter(|last| last["role"] == "assistant");
        let mut blocks = blocks.and_then(|last| last["content"].as_array()).into_iter().flatten();
        let is_open = blocks.any(|block| block["type"] == "tool_use");
        if matches!(choice, "any" | "tool")
            || stops
            || is_open
            || !output["format"].is_null()
            || !budget.is_null()
        {
            return Err("compaction: something else is asked for".to_owned());
        }
    }
    for (n, edit) in editing["edits"].as_array().into_iter().flatten().enumerate() {
        if edit["type"] == "clear_thinking_20251015" && n > 0 {
            return Err("clear_thinking_20251015 must be the first edit".to_owned());
        }
        let least = edit["trigger"]["value"].as_u64();
        if edit["type"] == "compact_20260112" && least.is_some_and(|least| least < 50_000) {
            return Err("trigger.value: Input should be greater than or equal to 50000".to_owned());
        }
    }
    Ok(())
}

fn markers(body: &Value, messages: &[Value]) -> Result<(), String> {
    let lists = [&body["tools"], &body["system"]].into_iter();
    let contents = messages.iter().map(|message| &message["content"]);
    let mut lives: Vec<&Value> = Vec::new();
    for block in lists.chain(contents).filter_map(Value::as_array).flatten() {
        let is_result = block["type"] == "tool_result";
        let inner = block["content"].as_array().filter(|_| is_result).into_iter().flatten();
        let holders = std::iter::once(block).chain(inner);
        lives.extend(holders.map(|holder| &holder["cache_control"]).filter(|it| it.is_object()));
    }
    lives.extend(Some(&body["cache_control"]).filter(|it| it.is_object()));
    if lives.len() > 4 {
        return Err(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
            lives.len()
        ));
    }
    let hours = lives.iter().map(|life| life["ttl"] == "1h");
    if hours.skip_while(|is_hour| *is_hour).any(|is_hour| is_hour) {
        return Err(
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
                .to_owned(),
        );
    }
    Ok(())
}
