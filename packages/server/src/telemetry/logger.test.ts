import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { createLogger, type LoggerOptions } from "./logger.js";

function capture(options: Partial<LoggerOptions> = {}, isTTY = false) {
  const lines: string[] = [];
  const logger = createLogger({
    level: "info",
    secrets: [],
    ...options,
    stream: { isTTY, write: (line: string) => lines.push(line) },
  });
  return { logger, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe("createLogger", () => {
  it("writes one JSON line an entry, from its level up", () => {
    const { logger, lines, entries } = capture();
    logger.debug({}, "not shown");
    logger.child({ run: "r-1" }).warn({ count: 2 }, "a\nmessage");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(entries()[0]).toMatchObject({ level: 40, run: "r-1", count: 2, msg: "a\nmessage" });
    expect(entries()[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it("writes a readable line on a terminal, without what could steer it", () => {
    const { logger, lines } = capture({}, true);
    logger.info({ port: 8484, who: "a b" }, "listening\u001b[2J");
    logger.error({ err: new Error("broke") }, "failed");
    const [first, second] = lines.map((line) => stripVTControlCharacters(line));
    expect(first).toMatch(/^\d\d:\d\d:\d\d info {2}listening \[2J port=8484 who="a b"\n$/);
    expect(second).toMatch(/^\d\d:\d\d:\d\d error failed\n {4}Error: broke\n {4} +at /);
  });

  it("redacts secrets wherever they stand, also ones added later (I-143)", () => {
    const { logger, lines } = capture({ secrets: ["canary/value+1=="] });
    const later = "canary-later-value";
    logger.addSecrets([later]);
    const basic = Buffer.from(`me:${later}`).toString("base64");
    const cause = new Error(`cause ${later}`);
    logger
      .child({ url: `http://h/?x=${encodeURIComponent("canary/value+1==")}` })
      .error(
        { err: new Error("oops canary/value+1==", { cause }), nested: { deep: [later, basic] }, [later]: 1 },
        `message ${later}`,
      );
    const text = lines.join("");
    for (const form of ["canary/value", "canary%2Fvalue", "canary-later", basic]) expect(text).not.toContain(form);
    expect(JSON.parse(text)).toMatchObject({ level: 50 });
  });

  it("cuts lines that are too long and keeps them JSON", () => {
    const { logger, lines, entries } = capture();
    logger.info({ blob: "x".repeat(100_000) }, "big");
    expect(lines[0]?.length).toBeLessThan(2_000);
    expect(entries()[0]).toMatchObject({ msg: "big", level: 30 });
  });
});
