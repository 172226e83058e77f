/** A tool call delta as chat-completion servers really send it. */
export interface RawCallDelta {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
  extra_content?: unknown;
}

/** A repaired delta: its index names exactly one call, id and name come once, arguments are text. */
export interface CallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
  readonly extra_content?: unknown;
}

interface Slot {
  readonly slot: number;
  readonly key: unknown;
  id: string | undefined;
  named: boolean;
  args: string;
}

/**
 * Tells parallel calls of one answer apart although servers send them all with index 0 or without one (I-95).
 * A slot is found by its id, else by its index; a new id with a name, or a name on a call whose arguments are
 * already one whole JSON value, opens a new slot.
 */
export class CallSlots {
  readonly #slots: Slot[] = [];

  /** Repairs the deltas of one chunk. */
  repair(deltas: readonly RawCallDelta[]): CallDelta[] {
    return deltas.map((delta) => this.#repairOne(delta));
  }

  #repairOne(delta: RawCallDelta): CallDelta {
    const id = text(delta.id);
    const name = text(delta.function?.name);
    const args = argumentsText(delta.function?.arguments);
    const slot = this.#find(delta.index, id, name, args) ?? this.#open(delta.index, id);
    const isFirst = !slot.named && name !== undefined;
    slot.named ||= name !== undefined;
    slot.args += args;
    return {
      index: slot.slot,
      ...(isFirst ? { id: slot.id ?? `call_${slot.slot}` } : {}),
      function: { ...(isFirst ? { name } : {}), arguments: args },
      ...(delta.extra_content === undefined ? {} : { extra_content: delta.extra_content }),
    };
  }

  #find(index: unknown, id: string | undefined, name: string | undefined, args: string): Slot | undefined {
    const byId = id === undefined ? undefined : this.#slots.findLast((slot) => slot.id === id);
    const slot = byId ?? this.#byIndex(index);
    if (!slot) return undefined;
    if (!slot.named) {
      slot.id ??= id;
      return slot;
    }
    if (name === undefined) return slot;
    const otherId = id !== undefined && slot.id !== undefined && id !== slot.id;
    const restarts = isWholeJson(slot.args) && (args === "" || /^\s*\{/.test(args)) && slot.args.trim() !== "";
    // The same id and name repeated with every delta continue the call.
    if (otherId || (restarts && (byId === undefined || args !== ""))) return undefined;
    return slot;
  }

  #byIndex(index: unknown): Slot | undefined {
    if (typeof index !== "number") return this.#slots.at(-1);
    return this.#slots.findLast((slot) => slot.key === index);
  }

  #open(index: unknown, id: string | undefined): Slot {
    const slot: Slot = { slot: this.#slots.length, key: index, id, named: false, args: "" };
    this.#slots.push(slot);
    return slot;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function isWholeJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
