import { describe, expect, it } from "vitest";
import { addOutput, type CapturedOutput, noOutput } from "./output.js";

const mark = "\n[... output omitted ...]\n";
const half = 16 * 1024;

function fed(chunks: readonly string[], channel: "stdout" | "stderr" = "stdout"): CapturedOutput {
  return chunks.reduce((output, chunk) => addOutput(output, channel, chunk), noOutput);
}

function lone(text: string): boolean {
  return !text.isWellFormed();
}

describe("output of an execution (I-59)", () => {
  it("keeps short output whole, by channel and as it came", () => {
    const output = addOutput(addOutput(addOutput(noOutput, "stdout", "a"), "stderr", "b"), "stdout", "c");
    expect(output).toEqual({ stdout: "ac", stderr: "b", interleaved: "abc", omitted: 0 });
  });

  it("keeps the start and the end of long output, and counts what is left out", () => {
    const text = `${"s".repeat(half)}${"m".repeat(100_000)}${"e".repeat(half)}`;
    const kept = "s".repeat(half) + mark + "e".repeat(half);
    expect(fed([text])).toEqual({ stdout: kept, stderr: "", interleaved: kept, omitted: 100_000 });
    expect(fed([text], "stderr")).toEqual({ stdout: "", stderr: kept, interleaved: kept, omitted: 100_000 });
  });

  it.each([1_000, 4_096, 33_333])("counts every character once however often it is cut: chunks of %i", (size) => {
    const chunk = "x".repeat(size);
    const count = Math.ceil(400_000 / size);
    const output = fed(Array.from({ length: count }, () => chunk));
    const kept = output.interleaved.length - mark.length;
    expect(kept + output.omitted).toBe(size * count);
    expect(output.interleaved.split(mark)).toHaveLength(2);
    expect(output.interleaved.length).toBeLessThanOrEqual(4 * half);
  });

  it("never cuts a surrogate pair, wherever the cut falls", () => {
    for (const shift of [0, 1]) {
      const text = "-".repeat(shift) + "\u{1f600}".repeat(100_000);
      const once = fed([text]);
      expect(lone(once.stdout)).toBe(false);
      expect(once.stdout.length - mark.length + once.omitted).toBe(text.length);
      const often = fed(text.match(/.{1,9999}/gsu) ?? []);
      expect(lone(often.stdout)).toBe(false);
      expect(often.stdout.split(mark)).toHaveLength(2);
      expect(often.stdout.length - mark.length + often.omitted).toBe(text.length);
    }
  });

  it("joins a surrogate pair that two chunks share", () => {
    expect(fed(["\ud83d", "\ude00"]).stdout).toBe("\u{1f600}");
  });

  it("keeps the start of output that prints the mark itself", () => {
    const text = `first line${mark}${"x".repeat(100_000)}`;
    expect(fed([text]).stdout.startsWith(`first line${mark}xxx`)).toBe(true);
  });

  it("changes nothing for the other channel", () => {
    const long = fed(["y".repeat(100_000)]);
    expect(addOutput(long, "stderr", "!").stdout).toBe(long.stdout);
    expect(addOutput(long, "stderr", "!").stderr).toBe("!");
  });
});
