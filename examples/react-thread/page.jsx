/**
 * A page of your own in React: `useThread` binds the store of `@deepwright/protocol/live`, which knows no framework. The
 * server hands the page out itself (`page` of `serve`), so that its requests carry the session. The thread is in the address.
 */
import { connect, openThread } from "@deepwright/protocol/live";
import { useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";

const useThread = (store) => useSyncExternalStore(store.subscribe, store.getSnapshot);

function Conversation({ store }) {
  const { screen } = useThread(store);
  const send = (event) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("text");
    event.currentTarget.reset();
    void store.send("agent", text);
  };
  return (
    <main>
      {screen.main.messages.map(({ id, role, text }) => (
        <p key={id} className={role}>
          {text}
        </p>
      ))}
      {screen.interrupts.map(({ id, value }) => (
        <button
          key={id}
          type="button"
          onClick={() =>
            store.answer(id, { decisions: value.actionRequests.map(() => ({ type: "approve" })) })
          }
        >
          Approve {value.actionRequests.map(({ name }) => name).join(", ")}
        </button>
      ))}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" />
      </form>
    </main>
  );
}

const connection = connect({ baseUrl: location.origin });

/** The code of the link that `deepwright serve` prints becomes a session. */
async function signIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  await connection.request({ method: "POST", path: "/sign-in" }, { body: { code } });
}

/** The thread of the address, or a new one. */
async function threadOfAddress() {
  const known = new URLSearchParams(location.search).get("thread");
  if (known !== null) return known;
  const response = await connection.request({ method: "POST", path: "/threads" }, { body: {} });
  const { thread_id: id } = await response.json();
  history.replaceState(null, "", `?thread=${id}`);
  return id;
}

await signIn();
const store = openThread({ connection, threadId: await threadOfAddress() });
createRoot(document.getElementById("root")).render(<Conversation store={store} />);
