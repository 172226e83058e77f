import fc from "fast-check";
import { openExecs } from "../../../packages/server/src/run/state.js";
import type { Ledger } from "./ledger.js";
import { checkRest } from "./rest-rule.js";
import type { RunDriver } from "./run-driver.js";
import * as toy from "./toy-messages.js";

/** The run under test with the client that talks to it: what it sent, and what is still on its way. */
export interface Drive {
  readonly driver: RunDriver;
  readonly sent: { readonly number: number; readonly message: toy.ToyMessage }[];
  readonly underWay: { readonly number: number; readonly message: toy.ToyMessage }[];
  /** The number of the client's next append. */
  next: number;
  /** Heartbeats the shell has seen and not yet noted with an append. */
  heartbeats: number[];
}

type Make = (drive: Drive) => toy.ToyMessage;
type Move = (drive: Drive) => void;
type Applies = (ledger: Readonly<Ledger>) => boolean;

/** One random step, with a name that a failing sequence is read by. */
export class Step implements fc.Command<Ledger, Drive> {
  readonly #name: string;
  readonly #applies: Applies;
  readonly #move: Move;

  constructor(name: string, move: Move, applies: Applies = () => true) {
    this.#name = name;
    this.#move = move;
    this.#applies = applies;
  }

  /** A few inputs behind the end show that it stays one; a walk that goes on and on there shows nothing more. */
  check(ledger: Readonly<Ledger>): boolean {
    return ledger.late < 4 && this.#applies(ledger);
  }

  run(_ledger: Ledger, drive: Drive): void {
    this.#move(drive);
    checkRest(drive.driver);
  }

  toString(): string {
    return this.#name;
  }
}

/** One of several, by a random number; undefined when there is none. */
export function pick<T>(from: readonly T[], at: number): T | undefined {
  return from[at % Math.max(1, from.length)];
}

/** Random numbers to pick with. */
export const picks = fc.nat({ max: 7 });
/** The blobs of every toy conversation; the client holds the first from the start. */
export const blobIds = ["a0", "b1", "c2", "d3"] as const;

/** Names an execution: an open one, any one, or one that never was. */
export const execs = fc.tuple(fc.constantFrom("open", "open", "open", "any", "unknown"), picks).map(([which, at]) => ({
  name: `${which}:${at}`,
  about: which === "unknown" ? undefined : ("exec" as const),
  find: ({ driver }: Drive): number => {
    const ids = which === "open" ? openExecs(driver.state).map(({ exec }) => exec) : [...driver.state.execs.keys()];
    return which === "unknown" ? 9000 + at : (pick(ids, at) ?? 9000);
  },
}));

const kvs = fc.tuple(fc.boolean(), picks).map(([known, at]) => ({
  name: known ? `${at}` : "unknown",
  about: known ? ("kv" as const) : undefined,
  offered: ({ driver }: Drive) => (known ? (pick([...driver.state.blobs.offered.keys()], at) ?? 9000) : 9000),
  asked: ({ driver }: Drive) =>
    known ? (pick([...driver.state.blobs.asked], at) ?? [9000, { blobId: "" }]) : ([9000, { blobId: "" }] as const),
}));

interface Named {
  readonly name: string;
  readonly make: Make;
  /** What there must be for the message to be about. */
  readonly about?: "exec" | "kv" | undefined;
}

const messages: fc.Arbitrary<Named> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("conversation", "with-context", "")
      .map((id) => ({ name: `run_request(${id || "invalid"})`, make: () => toy.runRequest(id) })),
  },
  {
    weight: 16,
    arbitrary: fc.tuple(execs, fc.boolean()).map(([exec, byText]) => ({
      name: `exec_result(${exec.name}${byText ? " by exec_id" : ""})`,
      about: exec.about,
      make: (drive: Drive) => {
        const id = exec.find(drive);
        const execId = drive.driver.state.execs.get(id)?.execId ?? "no-such-exec";
        return byText ? toy.execResult(777, execId) : toy.execResult(id);
      },
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(execs, fc.constantFrom("stdout", "stderr"), fc.constantFrom("", "out", "\u{1f600}"))
      .map(([exec, channel, data]) => ({
        name: `shell_${channel}(${exec.name})`,
        about: exec.about,
        make: (drive: Drive) => toy.shellOutput(exec.find(drive), channel, data),
      })),
  },
  {
    weight: 2,
    arbitrary: execs.map((exec) => ({
      name: `shell_exit(${exec.name})`,
      about: exec.about,
      make: (drive: Drive) => toy.shellExit(exec.find(drive)),
    })),
  },
  {
    weight: 6,
    arbitrary: execs.map((exec) => ({
      name: `close(${exec.name})`,
      about: exec.about,
      make: (drive: Drive) => toy.streamClose(exec.find(drive)),
    })),
  },
  {
    weight: 2,
    arbitrary: execs.map((exec) => ({
      name: `throw(${exec.name})`,
      about: exec.about,
      make: (drive: Drive) => toy.execThrow(exec.find(drive)),
    })),
  },
  {
    weight: 8,
    arbitrary: fc.tuple(kvs, fc.constantFrom(true, true, true, false)).map(([kv, ok]) => ({
      name: `set_blob_result(${kv.name}, ${ok ? "ok" : "refused"})`,
      about: kv.about,
      make: (drive: Drive) => toy.setBlobResult(kv.offered(drive), ok),
    })),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(kvs, fc.constantFrom("right", "right", "wrong", "none")).map(([kv, what]) => ({
      name: `get_blob_result(${kv.name}, ${what})`,
      about: kv.about,
      make: (drive: Drive) => {
        const [id, { blobId }] = kv.asked(drive);
        return toy.getBlobResult(id, what === "right" ? blobId : what === "wrong" ? "ff" : undefined);
      },
    })),
  },
  { weight: 2, arbitrary: picks.map((at) => ({ name: "unknown message", make: () => toy.unknownMessage(at) })) },
  { weight: 1, arbitrary: fc.constant({ name: "prewarm", make: toy.prewarm }) },
);

function send({ name, make, about }: Named, how: "now" | "held" | "ordered" | "after-heartbeat"): Step {
  const move = (drive: Drive): void => {
    const message = make(drive);
    if (how === "ordered") return void drive.driver.append("next", message);
    if (how === "after-heartbeat") drive.heartbeats.push(drive.next++);
    const append = { number: drive.next++, message };
    if (how === "held") drive.underWay.push(append);
    else deliver(drive, append);
  };
  return new Step(`send ${name} ${how}`, move, (ledger) =>
    about === "exec" ? ledger.unclosedExec : about === "kv" ? ledger.openKv : true,
  );
}

function deliver(drive: Drive, append: { number: number; message: toy.ToyMessage }): void {
  const { answer } = drive.driver.append(append.number, append.message, drive.heartbeats);
  if (answer.kind !== "accepted") return;
  drive.heartbeats = [];
  drive.sent.push(append);
}

/** Everything a client may send, in and out of order. */
export const sending = fc.oneof(
  {
    weight: 60,
    arbitrary: fc
      .tuple(messages, fc.constantFrom("now", "now", "now", "now", "ordered", "ordered", "held", "after-heartbeat"))
      .map(([message, how]) => send(message, how)),
  },
  {
    weight: 20,
    arbitrary: picks.map(
      (at) =>
        new Step(`deliver ${at}`, (drive) => {
          const [append] = drive.underWay.splice(at % Math.max(1, drive.underWay.length), 1);
          if (append) deliver(drive, append);
        }),
    ),
  },
  {
    weight: 6,
    arbitrary: picks.map(
      (at) =>
        new Step(`resend ${at}`, (drive) => {
          const append = pick(drive.sent, at);
          if (append) deliver(drive, append);
        }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(picks, messages)
      .map(
        ([number, { name, make }]) =>
          new Step(`number ${number} again as ${name}`, (drive) => deliver(drive, { number, message: make(drive) })),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .array(picks, { maxLength: 2 })
      .map(
        (numbers) =>
          new Step(`heartbeats ${numbers.join()}`, ({ driver }) => driver.give({ kind: "numbers", numbers })),
      ),
  },
  { weight: 1, arbitrary: fc.constant(new Step("an append is lost", (drive) => drive.next++)) },
  {
    weight: 1,
    arbitrary: fc.constant(
      new Step("send cancel_action", (drive) => deliver(drive, { number: drive.next++, message: toy.cancelAction() })),
    ),
  },
);

/** A drive whose client counts from `base`, and which has begun when a conversation is given. */
export function begin(driver: RunDriver, base: number, conversation: string | null): Drive {
  const drive: Drive = { driver, sent: [], underWay: [], next: base, heartbeats: [] };
  if (conversation === null) return drive;
  driver.subscribe();
  deliver(drive, { number: drive.next++, message: toy.runRequest(conversation) });
  return drive;
}
