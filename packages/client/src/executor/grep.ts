import { stat } from "node:fs/promises";
import { basename, dirname, relative, sep } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GrepArgs, GrepResultSchema } from "@keyturn/protocol/agent";
import { isInside } from "../policy/workspace-paths.js";
import { codeOf, isMissing, messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import { type ExecutorContext, namedPath } from "./executor-context.js";
import { GrepCollector, type GrepMode, isGrepMode } from "./grep-collector.js";
import { runRipgrep } from "./ripgrep.js";

type Result = NonNullable<MessageInitShape<typeof GrepResultSchema>["result"]>;

/**
 * Searches with ripgrep: contents, names of files with matches, or counts. An empty pattern with a glob finds files by name.
 * Files that version control or the user's ignore files leave out are skipped; `headLimit` and `offset` are applied.
 */
export async function executeGrep(args: GrepArgs, call: Call, context: ExecutorContext): Promise<void> {
  const answer = (result: Result) => call.answer({ case: "grepResult", value: { result } });
  const refuse = (error: string) => answer({ case: "error", value: { error } });
  const mode = args.outputMode || "content";
  if (!isGrepMode(mode)) {
    refuse(`Unknown output mode ${mode}: use content, files_with_matches or count.`);
    return;
  }
  const { absolute: path, real } = await namedPath(context, args.path || ".");
  if (context.ignored.covers(path) || context.ignored.covers(real)) {
    refuse(`${path} is blocked by an ignore file.`);
    return;
  }
  const input = { pattern: args.pattern, path, ...(args.glob ? { glob: args.glob } : {}) };
  const hook = { toolName: "Grep", input, toolCallId: args.toolCallId };
  const reason = await context.gate.refusal({ tool: "grep", path, hook });
  if (reason !== null) {
    refuse(reason);
    return;
  }
  answer(await search(args, mode, path, call.signal, context));
}

async function search(
  args: GrepArgs,
  mode: GrepMode,
  path: string,
  signal: AbortSignal,
  context: ExecutorContext,
): Promise<Result> {
  const place = await placeOf(path, context.workspaces);
  if (typeof place === "string") return { case: "error", value: { error: place } };
  const findsFiles = args.pattern === "" && Boolean(args.glob);
  const collector = new GrepCollector(findsFiles ? "files_with_matches" : mode, args.headLimit, args.offset);
  const ignoreFiles = context.workspaces.flatMap((root) => context.ignored.files(root));
  const options = findsFiles ? ["--files", "--null"] : searchOptions(args, mode);
  const { code, errors } = await runRipgrep(
    context.processes,
    [...options, ...commonOptions(args, ignoreFiles), ...(findsFiles ? [] : ["-e", args.pattern]), "--", place.target],
    place.root,
    findsFiles || mode === "files_with_matches" ? "\0" : "\n",
    signal,
    (record) => collector.take(record),
  );
  if (code === 2 && errors.trim() !== "" && !collector.found) {
    return { case: "error", value: { error: errors.trim().replace(/^rg: /, "") } };
  }
  return {
    case: "success",
    value: {
      pattern: args.pattern,
      path: args.path ?? "",
      outputMode: mode,
      workspaceResults: { [place.root]: collector.result() },
    },
  };
}

/** The folder that file names are relative to, and what to search in it; or why there is nothing to search. */
async function placeOf(
  path: string,
  workspaces: readonly string[],
): Promise<{ root: string; target: string } | string> {
  try {
    const { isFile } = await stat(path).then((found) => ({ isFile: found.isFile() }));
    const workspace = workspaces.find((root) => isInside(root, path));
    const root = workspace ?? (isFile ? dirname(path) : path);
    const way = workspace === undefined ? (isFile ? basename(path) : "") : relative(root, path);
    return { root, target: `.${sep}${way}` };
  } catch (cause) {
    return isMissing(codeOf(cause)) ? `Path does not exist: ${path}` : messageOf(cause);
  }
}

function searchOptions(args: GrepArgs, mode: GrepMode): string[] {
  const options = ["--null", "--with-filename"];
  if (args.caseInsensitive) options.push("--ignore-case");
  if (args.multiline) options.push("--multiline", "--multiline-dotall");
  if (mode === "files_with_matches") return [...options, "--files-with-matches"];
  if (mode === "count") return [...options, "--count-matches"];
  options.push("--line-number", "--no-heading", "--max-columns=2000", "--max-columns-preview");
  const around = (flag: string, lines: number | undefined): void => {
    if (lines !== undefined && lines > 0) options.push(`${flag}=${lines}`);
  };
  around("--before-context", args.contextBefore ?? args.context);
  around("--after-context", args.contextAfter ?? args.context);
  return options;
}

function commonOptions(args: GrepArgs, ignoreFiles: readonly string[]): string[] {
  const sorts = new Set(["path", "modified", "accessed", "created"]);
  const by = args.sort && sorts.has(args.sort) ? args.sort : "path";
  const descends = args.sort !== undefined && args.sortAscending === false;
  return [
    "--hidden",
    descends ? `--sortr=${by}` : `--sort=${by}`,
    ...(args.type ? [`--type=${args.type}`] : []),
    ...(args.glob ? [`--glob=${args.glob}`] : []),
    // Last, because of two patterns the later one decides.
    "--glob=!**/.git",
    ...ignoreFiles.map((file) => `--ignore-file=${file}`),
  ];
}
