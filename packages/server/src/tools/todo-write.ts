import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TodoStatus, type UpdateTodosResultSchema, UpdateTodosToolCallSchema } from "@keyturn/protocol/agent";
import type { Json } from "../run/ids.js";
import type { ArgumentReader } from "./args.js";
import { defineTool, fail, objectSchema, type ToolBody } from "./define-tool.js";
import type { TodoState } from "./tool.js";

type Status = TodoState["status"];

/** One item as the model gave it. */
interface TodoChange {
  readonly id: string;
  readonly content?: string;
  readonly status?: Status;
}

interface Input {
  readonly todos: readonly TodoChange[];
  /** Undefined when the model did not say. */
  readonly merge?: boolean;
}

const statuses: { readonly [status in Status]: TodoStatus } = {
  pending: TodoStatus.PENDING,
  in_progress: TodoStatus.IN_PROGRESS,
  completed: TodoStatus.COMPLETED,
  cancelled: TodoStatus.CANCELLED,
};

const spellings: { readonly [spelling: string]: Status } = {
  pending: "pending",
  todo: "pending",
  inprogress: "in_progress",
  completed: "completed",
  complete: "completed",
  done: "completed",
  cancelled: "cancelled",
  canceled: "cancelled",
  "1": "pending",
  "2": "in_progress",
  "3": "completed",
  "4": "cancelled",
};

const marks: { readonly [status in Status]: string } = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  cancelled: "[-]",
};

/** Keeps the conversation's to-do list. Runs on the server alone. */
export const todoWriteTool = defineTool<Input>({
  name: "TodoWrite",
  describe: () => ({
    description:
      "Create or update the to-do list of this conversation; use it for work of several steps. With merge true, items are updated by id (only the fields given) and new ones added; with merge false the list is replaced.",
    parameters: objectSchema(
      {
        todos: {
          type: "array",
          minItems: 1,
          items: objectSchema(
            {
              id: { type: "string", description: "Short name of the item." },
              content: { type: "string", description: "What is to be done. Needed for new items." },
              status: { type: "string", enum: ["pending", "in_progress", "completed", "cancelled"] },
            },
            ["id"],
          ),
        },
        merge: { type: "boolean", description: "Update the list (true) or replace it (false)." },
      },
      ["todos", "merge"],
    ),
  }),
  decode(reader) {
    const todos = reader.items(["todos", "items"]).map((item, index) => decodeItem(item, index, reader));
    for (const [index, { id }] of todos.entries()) {
      const twice = id !== "" && todos.findIndex((todo) => todo.id === id) < index;
      if (twice) reader.problems.push(`todos[${index}]: "id" ${id} is listed twice`);
    }
    if (todos.length === 0 && reader.problems.length === 0) reader.problems.push('"todos" must have at least one item');
    const merge = reader.flag(["merge"]);
    return { todos, ...(merge === undefined ? {} : { merge }) };
  },
  arguments: (input) => body(input),
  failure: (input, _call, message) => body(input, { case: "error", value: { error: message } }),
  begin(input, { context }) {
    const applied = applyTodos(context.todos, input.todos, input.merge, context.now);
    if (!applied.ok) return fail(applied.problem);
    const { todos, merged } = applied;
    const text = `The to-do list is now:\n${todos.map((todo) => `${marks[todo.status]} ${todo.id}: ${todo.content}`).join("\n")}`;
    const value = { todos: todos.map(message), totalCount: todos.length, wasMerge: merged };
    return { do: "finish", text, todos, body: body(input, { case: "success", value }) };
  },
  proceed: () => fail("TodoWrite asks the client for nothing, so there is nothing to go on with."),
});

/** The list after an update, or why it was refused. */
export type AppliedTodos =
  | { readonly ok: true; readonly todos: readonly TodoState[]; readonly merged: boolean }
  | { readonly ok: false; readonly problem: string };

/**
 * Applies an update. Not told whether to merge, it merges when replacing would lose an active item or when an item has no
 * content of its own. A replacement that would drop active items is refused.
 */
export function applyTodos(
  current: readonly TodoState[],
  changes: readonly TodoChange[],
  merge: boolean | undefined,
  now: number,
): AppliedTodos {
  const ids = new Set(changes.map(({ id }) => id));
  const lost = current.filter(({ id, status }) => !ids.has(id) && status !== "completed" && status !== "cancelled");
  const incomplete = changes.some(({ content }) => !content);
  const merged = merge ?? (current.length > 0 && (lost.length > 0 || incomplete));
  const known = new Map(current.map((todo) => [todo.id, todo]));
  const without = changes.filter(({ id, content }) => !content && !(merged && known.has(id))).map(({ id }) => id);
  if (without.length > 0)
    return { ok: false, problem: `The list was not changed: new items need "content": ${without.join(", ")}.` };
  if (!merged && lost.length > 0) {
    const names = lost.map(({ id }) => id).join(", ");
    return {
      ok: false,
      problem: `The list was not replaced: unfinished items would be lost: ${names}. List them too, set them to cancelled, or use merge: true.`,
    };
  }
  const changed = new Map(changes.map((change) => [change.id, applyOne(change, known.get(change.id), merged, now)]));
  const kept = merged ? current.map((todo) => changed.get(todo.id) ?? todo) : [];
  const added = [...changed.values()].filter(({ id }) => !merged || !known.has(id));
  return { ok: true, todos: [...kept, ...added], merged };
}

function applyOne(change: TodoChange, old: TodoState | undefined, merged: boolean, now: number): TodoState {
  const inherited = merged ? old : undefined;
  return {
    id: change.id,
    content: change.content || inherited?.content || "",
    status: change.status ?? inherited?.status ?? "pending",
    createdAt: old?.createdAt ?? now,
    updatedAt: now,
  };
}

function decodeItem(item: ArgumentReader, index: number, reader: ArgumentReader): TodoChange {
  const id = typeof item.all.id === "number" ? String(item.all.id) : item.text(["id"]);
  const content = item.optionalText(["content", "text"])?.trim();
  const status = decodeStatus(item.all.status);
  if (status === null) item.problems.push('"status" must be one of pending, in_progress, completed, cancelled');
  for (const problem of item.problems) reader.problems.push(`todos[${index}]: ${problem}`);
  return { id, ...(content ? { content } : {}), ...(status ? { status } : {}) };
}

/** Undefined when absent, null when it is no status. */
function decodeStatus(value: Json | undefined): Status | null | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" && typeof value !== "number") return null;
  const spelling = String(value)
    .toLowerCase()
    .replace(/^todo_status_/, "")
    .replace(/[^a-z0-9]/g, "");
  return Object.hasOwn(spellings, spelling) ? (spellings[spelling] ?? null) : null;
}

function message(todo: TodoState) {
  return {
    id: todo.id,
    content: todo.content,
    status: statuses[todo.status],
    createdAt: BigInt(todo.createdAt),
    updatedAt: BigInt(todo.updatedAt),
  };
}

function body(input: Input, result?: MessageInitShape<typeof UpdateTodosResultSchema>["result"]): ToolBody {
  const todos = input.todos.map(({ id, content, status }) => ({
    id,
    ...(content ? { content } : {}),
    ...(status ? { status: statuses[status] } : {}),
  }));
  const args = { todos, merge: input.merge ?? false };
  return {
    case: "updateTodosToolCall",
    value: create(UpdateTodosToolCallSchema, { args, ...(result ? { result: { result } } : {}) }),
  };
}
