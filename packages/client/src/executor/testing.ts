import { watch } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type ExecClientMessage, type ExecServerMessage, ExecServerMessageSchema } from "@keyturn/protocol/agent";
import { onTestFinished } from "vitest";
import { allowEverything } from "../policy/policy.js";
import { Executor, type ExecutorOptions } from "./executor.js";

/** The arguments of a request, as a plain literal. */
export type ArgsInit = NonNullable<MessageInitShape<typeof ExecServerMessageSchema>["message"]>;

/** The message of one answer. */
export type AnswerMessage = ExecClientMessage["message"];

/** An executor in a folder of its own, with a way to ask it. */
export interface TestExecutor {
  readonly executor: Executor;
  readonly workspace: string;
  readonly dataFolder: string;
  /** Carries out a request and returns all its answers. */
  ask(args: ArgsInit, execId?: string): Promise<AnswerMessage[]>;
  /** Carries out a request that is answered once. */
  askOnce(args: ArgsInit): Promise<AnswerMessage>;
  /** Starts a request whose answers can be waited for. */
  begin(args: ArgsInit): StartedRequest;
}

/** A request under way. */
export interface StartedRequest {
  readonly done: Promise<void>;
  readonly answers: AnswerMessage[];
  abort(): void;
  /** Resolves with the first answer that fits, now or later. */
  until(fits: (message: AnswerMessage) => boolean): Promise<AnswerMessage>;
}

/** A new folder, links resolved, that goes away with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "keyturn-client-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens an executor that may do everything unless told otherwise; it is closed with the test. */
export async function openExecutor(options: Partial<ExecutorOptions> = {}): Promise<TestExecutor> {
  const workspace = options.workspace ?? (await temporaryFolder());
  const dataFolder = options.dataFolder ?? (await temporaryFolder());
  const executor = await Executor.open({ policy: allowEverything, ...options, workspace, dataFolder });
  onTestFinished(() => executor.close());
  let lastId = 0;
  const start = (args: ArgsInit, execId = ""): StartedRequest => {
    const id = ++lastId;
    const message: ExecServerMessage = create(ExecServerMessageSchema, { id, execId, message: args });
    const answers: AnswerMessage[] = [];
    const watchers = new Set<() => void>();
    const controller = new AbortController();
    const send = (answer: ExecClientMessage): void => {
      if (answer.id !== id) throw new Error(`answer for ${answer.id} instead of ${id}`);
      answers.push(answer.message);
      for (const watch of watchers) watch();
    };
    const done = executor.execute({ message, send, signal: controller.signal });
    const until = (fits: (message: AnswerMessage) => boolean) =>
      new Promise<AnswerMessage>((resolve, reject) => {
        const watch = (): void => {
          const found = answers.find(fits);
          if (found) resolve(found);
        };
        watchers.add(watch);
        watch();
        done.then(() => reject(new Error(`ended without it: ${JSON.stringify(answers.at(-1)?.case)}`)), reject);
      });
    return { done, answers, abort: () => controller.abort(), until };
  };
  const ask = async (args: ArgsInit, execId?: string): Promise<AnswerMessage[]> => {
    const { done, answers } = start(args, execId);
    await done;
    return answers;
  };
  const askOnce = async (args: ArgsInit): Promise<AnswerMessage> => {
    const [answer, ...more] = await ask(args);
    if (!answer || more.length > 0) throw new Error(`${more.length + (answer ? 1 : 0)} answers instead of one`);
    return answer;
  };
  return { executor, workspace, dataFolder, ask, askOnce, begin: (args) => start(args) };
}

/** True while a process exists and is no zombie. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX] /.test(status);
}

/** Waits until a file holds text that fits. */
export async function untilText(path: string, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      readFile(path, "utf8").then((text) => {
        if (!pattern.test(text)) return;
        watcher.close();
        resolve(text);
      }, reject);
    };
    const watcher = watch(path, look);
    look();
  });
}
