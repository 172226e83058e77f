import { create } from "@bufbuild/protobuf";
import { AgentMode, ConversationStateStructureSchema } from "@keyturn/protocol/agent";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HistoryMessage } from "../run/history.js";
import { decodeState, loadBase, namedBlobs } from "./base.js";
import { blobOf, idOf, rawId } from "./blob.js";
import { extendState } from "./extend-state.js";
import { decodeMessage, encodeMessage } from "./message-codec.js";

const text = fc.string({ unit: "binary" });
const provider = fc.record({ provider: text, model: text, data: fc.jsonValue() }) as fc.Arbitrary<never>;
const message: fc.Arbitrary<HistoryMessage> = fc.oneof(
  fc.record({ role: fc.constant("system" as const), content: text }),
  fc.record({
    role: fc.constant("user" as const),
    content: fc.array(fc.record({ type: fc.constant("text" as const), text })),
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("text" as const), text, provider }, { requiredKeys: ["type", "text"] }),
        fc.record({ type: fc.constant("reasoning" as const), text, provider }, { requiredKeys: ["type", "text"] }),
      ),
    ),
  }),
  fc.record({
    role: fc.constant("tool" as const),
    content: fc.array(
      fc.record({ type: fc.constant("tool-result" as const), toolCallId: text, toolName: text, result: text }),
    ),
  }),
);

describe("history messages as blobs", () => {
  test("a message comes back as it went in, and the same message is the same blob (I-123)", () => {
    fc.assert(
      fc.property(message, (one) => {
        const blob = encodeMessage(one);
        expect(encodeMessage(JSON.parse(JSON.stringify(one)) as HistoryMessage).id).toBe(blob.id);
        expect(decodeMessage(blob.bytes)).toEqual(JSON.parse(JSON.stringify(one)));
      }),
    );
  });

  test("bytes that are no message are none, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        decodeMessage(bytes);
      }),
    );
    expect(decodeMessage(new TextEncoder().encode('{"role":"wizard","content":"x"}'))).toBeUndefined();
  });

  test("another server's spelling is understood: text as a bare string, results as JSON", () => {
    const read = (value: unknown) => decodeMessage(new TextEncoder().encode(JSON.stringify(value)));
    expect(read({ role: "user", content: "hi" })).toEqual({ role: "user", content: [{ type: "text", text: "hi" }] });
    expect(
      read({ role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "Read", result: { ok: 1 } }] }),
    ).toEqual({
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "a", toolName: "Read", result: '{"ok":1}' }],
    });
  });
});

describe("a state after a turn", () => {
  const add = {
    messages: [encodeMessage({ role: "user", content: [{ type: "text", text: "hi" }] })],
    userMessage: blobOf(new Uint8Array([1])),
    steps: [blobOf(new Uint8Array([2]))],
    requestId: "request-1",
    mode: AgentMode.AGENT,
    todos: null,
    tokens: { used: 10, max: 100 },
  };

  test("is the state before plus the turn, every id the hash of a blob that comes with it (I-45)", () => {
    const { structure, root, blobs } = extendState(decodeState(undefined), add);
    const ids = new Set(blobs.map((blob) => blob.id));
    for (const raw of [...structure.turns, ...structure.rootPromptMessagesJson]) {
      expect(ids.has(idOf(raw) ?? "")).toBe(true);
    }
    expect(blobs.every((blob) => blobOf(blob.bytes).id === blob.id)).toBe(true);
    expect(ids.has(root.id)).toBe(true);
    expect(namedBlobs(structure)).toHaveLength(2);
  });

  test("keeps the unknown fields of the state before, and its turns", () => {
    const before = create(ConversationStateStructureSchema, { turns: [rawId(blobOf(new Uint8Array([5])).id)] });
    before.$unknown = [{ no: 4_242, wireType: 0, data: new Uint8Array([1]) }];
    const { structure } = extendState(before, add);
    expect(structure.$unknown).toEqual(before.$unknown);
    expect(structure.turns).toHaveLength(2);
    expect(before.turns).toHaveLength(1);
  });

  test("loads again; blobs that are nowhere are named, inline bodies of old servers are read", async () => {
    const { structure } = extendState(decodeState(undefined), add);
    structure.rootPromptMessagesJson.push(new TextEncoder().encode('{"role":"assistant","content":"inline"}'));
    const kept = new Map(add.messages.map((blob) => [blob.id, blob.bytes]));
    const loaded = await loadBase(structure, async (ids) => new Map([...kept].filter(([id]) => ids.includes(id))));
    expect(loaded.messages.map((one) => one.role)).toEqual(["user", "assistant"]);
    const bare = await loadBase(structure, async () => new Map());
    expect(bare.missing).toEqual(add.messages.map((blob) => blob.id));
  });
});
