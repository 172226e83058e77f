import { create } from "@bufbuild/protobuf";
import { GrepSuccessSchema } from "@keyturn/protocol/agent";
import { expect, test } from "vitest";
import { leftOutFolders, withoutFolders } from "./left-out-folders.js";

test("version control's files and installed packages are left out, unless they are asked for by name", () => {
  expect(leftOutFolders(undefined, "src/**")).toEqual([".git", "node_modules"]);
  expect(leftOutFolders("/project/node_modules/left-pad")).toEqual([".git"]);
  expect(leftOutFolders("C:\\work\\.git", "**/node_modules/*.js")).toEqual([]);
  // A name that only begins alike is another folder.
  expect(leftOutFolders("/project/.github")).toEqual([".git", "node_modules"]);
});

test("an answer loses the files of such folders, and its totals their share", () => {
  const success = create(GrepSuccessSchema, {
    workspaceResults: {
      "/a": { result: { case: "files", value: { files: ["./x.ts", "./.git/HEAD"], totalFiles: 9 } } },
      "/b": {
        result: {
          case: "count",
          value: {
            counts: [
              { file: "node_modules/y", count: 4 },
              { file: "z", count: 1 },
            ],
            totalFiles: 2,
            totalMatches: 5,
          },
        },
      },
      "/c": {
        result: {
          case: "content",
          value: {
            matches: [
              { file: "deep/node_modules/y.ts", matches: [{ content: "a" }, { content: "b", isContextLine: true }] },
              { file: ".gitignore", matches: [{ content: "c" }] },
            ],
            totalLines: 3,
            totalMatchedLines: 2,
          },
        },
      },
    },
  });
  const { workspaceResults } = withoutFolders(success, [".git", "node_modules"]);
  expect(Object.values(workspaceResults).map(({ result }) => result.value)).toMatchObject([
    { files: ["./x.ts"], totalFiles: 8 },
    { counts: [{ file: "z" }], totalFiles: 1, totalMatches: 1 },
    { matches: [{ file: ".gitignore" }], totalLines: 1, totalMatchedLines: 1 },
  ]);
  // What was handed in is left as it was.
  expect(success.workspaceResults["/a"]?.result.value).toMatchObject({ totalFiles: 9 });
});
