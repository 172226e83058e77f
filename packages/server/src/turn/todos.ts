import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { TodoItemSchema, TodoStatus } from "@keyturn/protocol/agent";
import type { TodoState } from "../tools/tool.js";

const statuses: readonly (readonly [TodoStatus, TodoState["status"]])[] = [
  [TodoStatus.PENDING, "pending"],
  [TodoStatus.IN_PROGRESS, "in_progress"],
  [TodoStatus.COMPLETED, "completed"],
  [TodoStatus.CANCELLED, "cancelled"],
];

/** The to-do list of a conversation state. An entry that cannot be read is left out. */
export function readTodos(entries: readonly Uint8Array[], at: number): readonly TodoState[] {
  return entries.flatMap((bytes) => {
    try {
      const item = fromBinary(TodoItemSchema, bytes);
      if (!item.id) return [];
      const status = statuses.find(([wire]) => wire === item.status)?.[1] ?? "pending";
      const createdAt = Number(item.createdAt) || at;
      return [
        { id: item.id, content: item.content, status, createdAt, updatedAt: Number(item.updatedAt) || createdAt },
      ];
    } catch {
      return [];
    }
  });
}

/** The to-do list as a conversation state keeps it. */
export function writeTodos(todos: readonly TodoState[]): readonly Uint8Array[] {
  return todos.map((todo) =>
    toBinary(
      TodoItemSchema,
      create(TodoItemSchema, {
        id: todo.id,
        content: todo.content,
        status: statuses.find(([, name]) => name === todo.status)?.[0] ?? TodoStatus.PENDING,
        createdAt: BigInt(todo.createdAt),
        updatedAt: BigInt(todo.updatedAt),
      }),
    ),
  );
}
