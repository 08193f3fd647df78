/** A plan: what is open, begun and done. */
import type { ShownTodo } from "@deepwright/protocol/live";
import { words } from "../words.ts";

export function TodoList({ todos }: { readonly todos: readonly ShownTodo[] }) {
  return (
    <ol class="todos">
      {todos.map(({ content, status }, index) => (
        <li key={index} class={status}>
          <span class="tick" role="img" aria-label={words.todoStatus[status] ?? status} />
          {content}
        </li>
      ))}
    </ol>
  );
}
