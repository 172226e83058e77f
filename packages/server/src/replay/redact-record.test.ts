import { create, toBinary } from "@bufbuild/protobuf";
import { AgentClientMessageSchema, AgentServerMessageSchema } from "@keyturn/protocol/agent";
import { decodeClientMessage, decodeServerMessage } from "@keyturn/protocol/codec";
import { expect, test } from "vitest";
import type { LogRecord } from "../engine/ports.js";
import { createRedaction } from "../telemetry/redact.js";
import { redactRecords } from "./redact-record.js";

const secret = "s3cret-0123456789";
const redact = createRedaction([secret], (found) => "*".repeat(found.length));
const stars = "*".repeat(secret.length);

function record(more: Partial<LogRecord>): LogRecord {
  return { position: 1, fence: 1, at: 1, kind: "notice", body: { v: 1 }, payload: null, frame: null, ...more };
}

function delta(text: string): LogRecord {
  const message = { case: "interactionUpdate", value: { message: { case: "textDelta", value: { text } } } } as const;
  const frame = toBinary(AgentServerMessageSchema, create(AgentServerMessageSchema, { message }));
  return record({ kind: "text-added", body: { channel: "text", text, v: 1 }, frame });
}

function textOf({ body, frame }: LogRecord): unknown[] {
  const of = decodeServerMessage(frame ?? new Uint8Array()).message;
  const update = of.case === "interactionUpdate" ? of.value.message : undefined;
  return [(body as { text: string }).text, update?.case === "textDelta" && update.value.text];
}

test("what holds no secret stays as it is, byte for byte", () => {
  const records = [delta("nothing"), record({ payload: Uint8Array.of(1, 2, 255) })];
  expect(redactRecords(records, redact)).toEqual(records);
  expect(redactRecords(records, redact)[0]).toBe(records[0]);
});

test("texts and bytes of messages are redacted within their fields, which stay readable (I-143)", () => {
  const kv = {
    id: 1,
    message: { case: "getBlobResult", value: { blobData: Buffer.from(`{"k":"${secret}"}`) } },
  } as const;
  const payload = toBinary(
    AgentClientMessageSchema,
    create(AgentClientMessageSchema, { message: { case: "kvClientMessage", value: kv } }),
  );
  const [clean] = redactRecords([record({ kind: "append-stored", body: { note: [`a ${secret}`] }, payload })], redact);
  expect(clean?.body).toEqual({ note: [`a ${stars}`] });
  const of = decodeClientMessage(clean?.payload ?? new Uint8Array()).message;
  const blob =
    of.case === "kvClientMessage" && of.value.message.case === "getBlobResult" && of.value.message.value.blobData;
  expect(Buffer.from(blob || []).toString()).toBe(`{"k":"${stars}"}`);
  expect(clean?.payload?.byteLength).toBe(payload.byteLength);
});

test("bytes that are no message are redacted all the same", () => {
  const payload = Uint8Array.from(Buffer.from(`\u00ff\u00ff${secret}`, "latin1"));
  const [clean] = redactRecords([record({ kind: "append-stored", payload })], redact);
  expect(Buffer.from(clean?.payload ?? []).toString("latin1")).toBe(`\u00ff\u00ff${stars}`);
});

test("a secret that the model's deltas cut is one secret, a block's end is its end", () => {
  const closed = record({ kind: "block-closed", body: { channel: "text", v: 1 } });
  const pieces = [
    delta(`key: ${secret.slice(0, 4)}`),
    record({}),
    delta(secret.slice(4, 9)),
    delta(`${secret.slice(9)}!`),
    closed,
  ];
  const clean = redactRecords(pieces, redact);
  expect([clean[0], clean[2], clean[3]].map((one) => textOf(one as LogRecord))).toEqual([
    ["key: ****", "key: ****"],
    ["*****", "*****"],
    ["********!", "********!"],
  ]);
  const apart = [delta(secret.slice(0, 9)), closed, delta(secret.slice(9))];
  expect(redactRecords(apart, redact)).toEqual(apart);
});
