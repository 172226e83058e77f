import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetails_Error, ErrorDetailsSchema } from "@keyturn/protocol/aiserver";
import { MalformedMessage } from "@keyturn/protocol/codec";
import { describe, expect, test } from "vitest";
import { type FaultCode, FaultError, fault, faultKinds } from "../run/faults.js";
import { codeOfFault, endOfRun, errorToWire, faultToWire, isExpected, unaryError } from "./errors.js";

const codes = Object.keys(faultKinds) as FaultCode[];

/** The JSON of a frame that ends a stream. */
function endOf(frame: Uint8Array): unknown {
  expect(frame[0]).toBe(2);
  return JSON.parse(new TextDecoder().decode(frame.subarray(5)));
}

describe("faults on the wire (T8, I-19)", () => {
  test("every fault has a code", () => {
    expect(Object.keys(codeOfFault).sort()).toEqual([...codes].sort());
  });

  test.each(codes)("%s says what happened and is explicit about retries", (code) => {
    const wire = faultToWire(fault(code, "what happened"));
    expect(wire.message).toBe(`${faultKinds[code].say}: what happened`);
    if (wire.code === Code.Canceled) return expect(wire.details).toEqual([]);
    const [detail] = wire.details;
    expect(detail?.type).toBe("aiserver.v1.ErrorDetails");
    const { error, details } = fromBinary(ErrorDetailsSchema, detail?.value ?? new Uint8Array());
    expect(error).not.toBe(ErrorDetails_Error.UNSPECIFIED);
    expect(details).toMatchObject({ title: `${faultKinds[code].say}.`, detail: "what happened", showRequestId: true });
    expect(details?.isRetryable).toBe(["server/stopping", "log/stale-fence", "request/overloaded"].includes(code));
  });

  test("a provider's failure is never retryable and never looks like a bad key for this server", () => {
    for (const code of codes.filter((name) => name.startsWith("model/"))) {
      const { code: wireCode, details } = faultToWire(fault(code, "x"));
      expect(wireCode).not.toBe(Code.Unauthenticated);
      const value = details[0]?.value ?? new Uint8Array();
      expect(fromBinary(ErrorDetailsSchema, value).details?.isRetryable).toBe(false);
    }
  });

  test("how runs end", () => {
    expect(endOf(endOfRun({ kind: "completed" }))).toEqual({});
    const canceled = endOfRun({ kind: "canceled", fault: fault("server/stopping", "x") });
    expect(endOf(canceled)).toEqual({ error: { code: "canceled", message: "The server is stopping: x" } });
    const failed = endOfRun({ kind: "failed", fault: fault("model/timeout", "x") });
    expect(endOf(failed)).toMatchObject({
      error: { code: "unavailable", details: [{ type: "aiserver.v1.ErrorDetails", value: expect.any(String) }] },
    });
  });

  test("thrown things", () => {
    expect(errorToWire(new FaultError(fault("append/conflict", "x"))).code).toBe(Code.AlreadyExists);
    const malformed = errorToWire(new MalformedMessage("data", "data is not hex"));
    expect([malformed.code, malformed.message]).toEqual([
      Code.InvalidArgument,
      "The append could not be read: data is not hex",
    ]);
    expect(errorToWire(new ConnectError("too much", Code.ResourceExhausted))).toEqual({
      code: Code.ResourceExhausted,
      message: "too much",
      details: [],
    });
    const defect = errorToWire(new TypeError("secret of the inside"));
    expect(defect.code).toBe(Code.Internal);
    expect(defect.message).not.toContain("secret");
    expect([isExpected(new TypeError("x")), isExpected(new FaultError(fault("run/limit", "x")))]).toEqual([
      false,
      true,
    ]);
  });

  test("unary errors have Connect's status and JSON", () => {
    expect(unaryError({ code: Code.InvalidArgument, message: "bad", details: [] })).toEqual({
      status: 400,
      body: { code: "invalid_argument", message: "bad" },
    });
  });
});
