import { describe, expect, test } from "vitest";
import { comparablePath, isAbsolutePath, isSamePath, presentPath, resolvePath } from "./paths.js";

describe("paths of the client (I-67)", () => {
  test.each([
    ["/a", true],
    ["C:\\a", true],
    ["c:/a", true],
    ["\\\\srv\\share", true],
    ["C:a", false],
    ["a/b", false],
    ["./a", false],
  ])("%s is absolute: %s", (path, absolute) => expect(isAbsolutePath(path)).toBe(absolute));

  test.each([
    ["/ws", "a/b", "/ws/a/b"],
    ["/ws/", "./a", "/ws/a"],
    ["/ws", "../a", "/ws/../a"],
    ["/ws", ".", "/ws"],
    ["C:\\ws", "src\\a.ts", "C:\\ws\\src\\a.ts"],
    ["\\\\srv\\share", "a.ts", "\\\\srv\\share\\a.ts"],
    ["/ws", "/etc/x", "/etc/x"],
    [null, "a", "a"],
  ])("in %s, %s is %s", (base, path, resolved) => expect(resolvePath(base, path)).toBe(resolved));

  test("spellings of one place meet", () => {
    expect(isSamePath("/ws/src/../a.ts", "/ws//a.ts/")).toBe(true);
    expect(isSamePath("C:\\WS\\a.ts", "c:/ws/./a.ts")).toBe(true);
    expect(isSamePath("/ws/A.ts", "/ws/a.ts")).toBe(false);
    expect(comparablePath("\\\\Srv\\x")).toBe("//srv/x");
    expect(comparablePath("/../../etc")).toBe("/etc");
    expect(comparablePath("../a")).toBe("../a");
  });

  test("found files are relative below the workspace and absolute elsewhere", () => {
    expect(presentPath("/ws", "./d/x.ts", "/ws")).toBe("d/x.ts");
    expect(presentPath("/other", "./d/x.ts", "/ws")).toBe("/other/d/x.ts");
    expect(presentPath("/ws", "/ws/x.ts", "/ws")).toBe("/ws/x.ts");
    expect(presentPath("C:\\other", ".\\x.ts", "C:\\ws")).toBe("C:\\other\\x.ts");
  });
});
