import { expect, test } from "vitest";
import { CallSlots, type RawCallDelta } from "./call-slots.js";

function read(deltas: readonly RawCallDelta[]): { id: string | undefined; name: string | undefined; args: string }[] {
  const slots = new CallSlots();
  const calls: { id: string | undefined; name: string | undefined; args: string }[] = [];
  for (const delta of deltas.flatMap((one) => slots.repair([one]))) {
    calls[delta.index] ??= { id: undefined, name: undefined, args: "" };
    const call = calls[delta.index];
    if (!call) continue;
    call.id ??= delta.id;
    call.name ??= delta.function.name;
    call.args += delta.function.arguments;
  }
  return calls;
}

const call = (index: unknown, id: string | undefined, name: string | undefined, args: unknown): RawCallDelta => ({
  index,
  id,
  function: { name, arguments: args },
});

test("three parallel calls all with index 0 are three calls (I-95)", () => {
  const deltas = ["a", "b", "c"].map((file, at) => call(0, `call_${at}`, "read", `{"path":"${file}.md"}`));
  expect(read(deltas)).toEqual(
    ["a", "b", "c"].map((file, at) => ({ id: `call_${at}`, name: "read", args: `{"path":"${file}.md"}` })),
  );
});

test("index 0 with arguments in later deltas, told apart by the id", () => {
  const deltas = [
    call(0, "x", "read", ""),
    call(0, undefined, undefined, '{"p":1}'),
    call(0, "y", "read", ""),
    call(0, undefined, undefined, '{"p":2}'),
  ];
  expect(read(deltas)).toEqual([
    { id: "x", name: "read", args: '{"p":1}' },
    { id: "y", name: "read", args: '{"p":2}' },
  ]);
});

test("index 0 without ids: a name after whole arguments opens a new call", () => {
  const deltas = [call(0, undefined, "read", '{"p":1}'), call(0, undefined, "read", '{"p":2}')];
  expect(read(deltas).map(({ args }) => args)).toEqual(['{"p":1}', '{"p":2}']);
});

test("id and name repeated with every delta continue one call", () => {
  const deltas = [
    call(0, "x", "read", '{"p"'),
    call(0, "x", "read", ":1"),
    call(0, "x", "read", "}"),
    call(0, "x", "read", ""),
  ];
  expect(read(deltas)).toEqual([{ id: "x", name: "read", args: '{"p":1}' }]);
});

test("interleaved calls with proper indexes stay apart", () => {
  const deltas = [
    call(0, "x", "a", "{"),
    call(1, "y", "b", "{"),
    call(0, undefined, undefined, "}"),
    call(1, undefined, undefined, "}"),
  ];
  expect(read(deltas)).toEqual([
    { id: "x", name: "a", args: "{}" },
    { id: "y", name: "b", args: "{}" },
  ]);
});

test("arguments as an object, no index and no id: an id is made up", () => {
  expect(read([call(undefined, undefined, "ls", { path: "." })])).toEqual([
    { id: "call_0", name: "ls", args: '{"path":"."}' },
  ]);
});
