import { describe, expect, test } from "vitest";
import { begin, contextOf, resultOf } from "./testing.js";
import { todoWriteTool } from "./todo-write.js";
import type { TodoState } from "./tool.js";

const todo = (id: string, status: TodoState["status"] = "pending"): TodoState => {
  return { id, content: `do ${id}`, status, createdAt: 1, updatedAt: 1 };
};
const context = contextOf({ todos: [todo("a"), todo("b", "completed")], now: 50 });
const write = (args: object) => resultOf(begin(todoWriteTool, args as never, context));

describe("TodoWrite (D)", () => {
  test("merge updates by id, keeps what is not named and adds what is new", () => {
    const result = write({
      merge: true,
      todos: [
        { id: "a", status: "in-progress" },
        { id: "c", content: "do c" },
      ],
    });
    expect(result.todos).toEqual([
      { ...todo("a", "in_progress"), updatedAt: 50 },
      todo("b", "completed"),
      { ...todo("c"), createdAt: 50, updatedAt: 50 },
    ]);
    expect(result.text).toBe("The to-do list is now:\n[>] a: do a\n[x] b: do b\n[ ] c: do c");
    expect(result.toolCall.tool.value).toMatchObject({
      args: { merge: true },
      result: {
        result: {
          case: "success",
          value: { totalCount: 3, wasMerge: true, todos: [{ status: 2, createdAt: 1n, updatedAt: 50n }, {}, {}] },
        },
      },
    });
  });

  test("replace is refused when it drops unfinished items, and names them", () => {
    expect(write({ merge: false, todos: [{ id: "c", content: "do c" }] })).toMatchObject({
      isError: true,
      text: expect.stringContaining("unfinished items would be lost: a."),
      toolCall: { tool: { value: { result: { result: { case: "error" } } } } },
    });
    const replaced = write({ merge: false, todos: [{ id: "a", content: "new a", status: "canceled" }] });
    expect(replaced.todos).toEqual([{ id: "a", content: "new a", status: "cancelled", createdAt: 1, updatedAt: 50 }]);
  });

  test("not told, it merges when replacing would lose something", () => {
    expect(write({ todos: [{ id: "c", content: "do c" }] }).todos?.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(write({ todos: [{ id: "a", content: "all" }] }).todos?.map(({ id }) => id)).toEqual(["a"]);
  });

  test.each(["pending", "TODO_STATUS_COMPLETED", "complete", "inprogress", 3, "4"])(
    "status %j is understood",
    (status) => {
      expect(write({ merge: true, todos: [{ id: "a", status }] }).isError).toBe(false);
    },
  );

  test.each([
    [{ merge: true, todos: [] }, "at least one item"],
    [{ merge: true }, '"todos" is missing'],
    [{ merge: true, todos: ["a"] }, "todos[0]: the arguments must be one JSON object"],
    [{ merge: true, todos: [{ content: "x" }] }, 'todos[0]: "id" is missing'],
    [{ merge: true, todos: [{ id: "a", status: "maybe" }] }, 'todos[0]: "status" must be one of'],
    [{ merge: true, todos: [{ id: "z" }] }, 'new items need "content": z'],
    [{ merge: true, todos: [{ id: "a" }, { id: "a" }] }, 'todos[1]: "id" a is listed twice'],
  ])("%j is refused with a hint", (args, words) => {
    expect(write(args)).toMatchObject({ isError: true, text: expect.stringContaining(words) });
  });
});
