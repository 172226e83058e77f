type Value = Record<string, unknown>;

/**
 * Joins two neighbouring events of a chunk that say more of the same thing: text, thinking or the arguments of one
 * call. A driver's parser costs far more per event than ours, and a fast provider sends hundreds of them in a chunk.
 * Undefined when they must stay apart; the first event is never changed.
 */
export type JoinDeltas = (before: Value, next: Value) => Value | undefined;

/** Chat completions: the only choice, and in its delta the same single field. */
export const joinChat: JoinDeltas = (before, next) => {
  const [left, right] = [chatDelta(before), chatDelta(next)];
  const field = left && right && onlyField(left);
  if (!field || field !== onlyField(right)) return undefined;
  const joined = field === "tool_calls" ? joinCalls(left[field], right[field]) : joinText(left[field], right[field]);
  return joined === undefined ? undefined : { ...before, choices: [{ delta: { [field]: joined } }] };
};

/** Responses: the same kind of delta of the same part of the same item. */
export const joinResponses: JoinDeltas = (before, next) => {
  if (typeof next["type"] !== "string" || !next["type"].endsWith(".delta")) return undefined;
  const same = ["type", "item_id", "output_index", "content_index", "summary_index"].every(
    (name) => before[name] === next[name],
  );
  const delta = same ? joinText(before["delta"], next["delta"]) : undefined;
  return delta === undefined || isFull(before["logprobs"]) || isFull(next["logprobs"]) ? undefined : { ...next, delta };
};

const anthropicFields: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/** Messages: the same kind of delta of the same block. */
export const joinAnthropic: JoinDeltas = (before, next) => {
  const [left, right] = [record(before["delta"]), record(next["delta"])];
  if (next["type"] !== "content_block_delta" || before["type"] !== next["type"] || !left || !right) return undefined;
  const field = anthropicFields[String(right["type"])];
  if (before["index"] !== next["index"] || left["type"] !== right["type"] || !field) return undefined;
  const text = joinText(left[field], right[field]);
  return text === undefined ? undefined : { ...next, delta: { ...right, [field]: text } };
};

/** The delta of an event that holds nothing else; undefined when there is an end, a usage or no choice in it. */
function chatDelta(value: Value): Value | undefined {
  const choice = Array.isArray(value["choices"]) ? record(value["choices"][0]) : undefined;
  return value["usage"] === undefined && choice?.["finish_reason"] === undefined
    ? record(choice?.["delta"])
    : undefined;
}

function onlyField(delta: Value): string | undefined {
  let found: string | undefined;
  for (const name in delta) {
    if (delta[name] === undefined) continue;
    if (found !== undefined) return undefined;
    found = name;
  }
  return found;
}

/** More arguments of a call that was begun before. */
function joinCalls(before: unknown, next: unknown): unknown {
  const [left, right] = [onlyRecord(before), onlyRecord(next)];
  if (!left || !right || left["index"] !== right["index"] || right["id"] !== undefined) return undefined;
  const [begun, more] = [record(left["function"]), record(right["function"])];
  if (!begun || !more || more["name"] !== undefined || right["extra_content"] !== undefined) return undefined;
  const joined = joinText(begun["arguments"], more["arguments"]);
  return joined === undefined ? undefined : [{ ...left, function: { ...begun, arguments: joined } }];
}

function joinText(before: unknown, next: unknown): string | undefined {
  return typeof before === "string" && typeof next === "string" ? before + next : undefined;
}

function isFull(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function onlyRecord(value: unknown): Value | undefined {
  return Array.isArray(value) && value.length === 1 ? record(value[0]) : undefined;
}

function record(value: unknown): Value | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Value) : undefined;
}
