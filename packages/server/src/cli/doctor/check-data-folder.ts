import { stat } from "node:fs/promises";
import { type Finding, healthy, problem } from "./finding.js";

const check = "data folder";

/** Whether nobody but their owner can read the data folder and the store's files; not on Windows, which has other rules. */
export async function checkDataFolder(dataDir: string, storeFile: string): Promise<Finding[]> {
  const folder = await stat(dataDir).catch(() => undefined);
  if (!folder) return [healthy(check, `${dataDir} is not there yet; the first start makes it`)];
  if (!folder.isDirectory()) {
    return [problem(check, `${dataDir} is not a folder`, "move the file away, or choose another --data-dir")];
  }
  if (process.platform === "win32") return [healthy(check, dataDir)];
  const paths = [dataDir, ...["", "-wal", "-shm", ".lock"].map((suffix) => storeFile + suffix)];
  const open = await Promise.all(paths.map(async (path) => ((await isOpenToOthers(path)) ? path : undefined)));
  const found = open
    .filter((path) => path !== undefined)
    .map((path) => problem(check, `others on this machine can read ${path}`, `chmod go-rwx ${quote(path)}`));
  return found.length > 0 ? found : [healthy(check, `${dataDir}, for its owner only`)];
}

async function isOpenToOthers(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && (found.mode & 0o077) !== 0;
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
