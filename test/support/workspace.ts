import type { ExecServerMessage } from "@keyturn/protocol/agent";
import type { ExecAnswer } from "./driver.js";

/** A workspace in memory that answers executions as a client would. */
export class MemoryWorkspace {
  readonly root = "/project";
  readonly files = new Map<string, string>();
  /** Everything that was asked for, by kind, in order. */
  readonly asked: string[] = [];
  readonly #context: Extract<ExecAnswer, { case: "requestContextResult" }>["value"];

  constructor(files: Readonly<Record<string, string>> = {}, context: Readonly<Record<string, unknown>> = {}) {
    for (const [path, text] of Object.entries(files)) this.files.set(`${this.root}/${path}`, text);
    const env = { osVersion: "linux 6", workspacePaths: [this.root], shell: "bash", timeZone: "Europe/Berlin" };
    this.#context = { result: { case: "success", value: { requestContext: { env, ...context } } } };
  }

  /** The answers to one execution; undefined for kinds this workspace does not know. */
  readonly answer = ({ message: of }: ExecServerMessage): readonly ExecAnswer[] | undefined => {
    this.asked.push(of.case ?? "nothing");
    switch (of.case) {
      case "requestContextArgs":
        return [{ case: "requestContextResult", value: this.#context }];
      case "lsArgs": {
        const names = [...this.files.keys()].map((path) => ({ name: path.slice(this.root.length + 1) }));
        const directoryTreeRoot = { absPath: of.value.path, childrenFiles: names, childrenWereProcessed: true };
        return [{ case: "lsResult", value: { result: { case: "success", value: { directoryTreeRoot } } } }];
      }
      case "readArgs":
        return [{ case: "readResult", value: this.#read(of.value.path) }];
      case "writeArgs": {
        const { path, fileText } = of.value;
        this.files.set(path, fileText);
        const value = { path, fileContentAfterWrite: fileText, fileSize: fileText.length };
        return [{ case: "writeResult", value: { result: { case: "success", value } } }];
      }
      case "shellStreamArgs":
        return [
          { case: "shellStream", value: { event: { case: "start", value: {} } } },
          { case: "shellStream", value: { event: { case: "stdout", value: { data: `ran ${of.value.command}\n` } } } },
          { case: "shellStream", value: { event: { case: "exit", value: { code: 0, cwd: this.root } } } },
        ];
      default:
        return undefined;
    }
  };

  #read(path: string): Extract<ExecAnswer, { case: "readResult" }>["value"] {
    const content = this.files.get(path);
    if (content === undefined) return { result: { case: "fileNotFound", value: { path } } };
    const totalLines = content.split("\n").length;
    const output = { case: "content" as const, value: content };
    return { result: { case: "success", value: { path, output, totalLines, fileSize: BigInt(content.length) } } };
  }
}
