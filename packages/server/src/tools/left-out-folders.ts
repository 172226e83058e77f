import { clone } from "@bufbuild/protobuf";
import { type GrepSuccess, GrepSuccessSchema } from "@keyturn/protocol/agent";

/** Folders nobody searches by accident: what version control keeps for itself, and installed packages. */
const folders = [".git", "node_modules"] as const;

/** The folders to leave out of a listing or search, but for those that its own words name. */
export function leftOutFolders(...words: readonly (string | undefined)[]): readonly string[] {
  const named = words.flatMap((word) => (word ?? "").split(/[/\\]/));
  return folders.filter((folder) => !named.includes(folder));
}

/**
 * A search answer without the files in those folders. With a name pattern a client's search also visits what version
 * control ignores, so the answer has to be cleared here.
 */
export function withoutFolders(success: GrepSuccess, leftOut: readonly string[]): GrepSuccess {
  const stays = (file: string) => !file.split(/[/\\]/).some((segment) => leftOut.includes(segment));
  const cleared = clone(GrepSuccessSchema, success);
  for (const { result } of Object.values(cleared.workspaceResults)) {
    switch (result.case) {
      case "files": {
        const { files } = result.value;
        result.value.files = files.filter(stays);
        result.value.totalFiles -= files.length - result.value.files.length;
        break;
      }
      case "count": {
        const gone = result.value.counts.filter(({ file }) => !stays(file));
        result.value.counts = result.value.counts.filter(({ file }) => stays(file));
        result.value.totalFiles -= gone.length;
        result.value.totalMatches -= gone.reduce((sum, { count }) => sum + count, 0);
        break;
      }
      case "content": {
        const gone = result.value.matches.filter(({ file }) => !stays(file)).flatMap(({ matches }) => matches);
        result.value.matches = result.value.matches.filter(({ file }) => stays(file));
        result.value.totalLines -= gone.length;
        result.value.totalMatchedLines -= gone.filter(({ isContextLine }) => !isContextLine).length;
        break;
      }
      default:
        break;
    }
  }
  return cleared;
}
