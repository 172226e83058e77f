import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AgentServerMessageSchema } from "./agent.js";
import { decodeServerMessage, encodeServerMessage } from "./messages.js";
import { positionOf, withPosition } from "./position.js";

const frame = encodeServerMessage(
  create(AgentServerMessageSchema, {
    message: { case: "interactionUpdate", value: { message: { case: "textDelta", value: { text: "hä" } } } },
  }),
);

test.each([0, 1, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER])(
  "a frame carries position %d and stays what it is",
  (position) => {
    const carried = withPosition(frame, position);
    expect(carried.subarray(0, frame.length)).toEqual(frame);
    const message = decodeServerMessage(carried);
    expect(positionOf(message)).toBe(position);
    expect(message.message).toEqual(decodeServerMessage(frame).message);
  },
);

test("a message without a position has none", () => {
  expect(positionOf(decodeServerMessage(frame))).toBeUndefined();
});
