/** For browsers without a session: how to get one. */
import { useState } from "preact/hooks";
import { call, failureWords, linkRefused, session } from "../state/connection.ts";
import { words } from "../words.ts";

export function SignIn() {
  return (
    <main class="sign-in">
      <h1>{words.app}</h1>
      <h2>{words.signInTitle}</h2>
      {linkRefused.value && (
        <p class="failure" role="alert">
          {words.signInRefused}
        </p>
      )}
      <p>{words.signInHow}</p>
      <pre class="command">{words.signInCommand(location.origin)}</pre>
      <CodeForm />
    </main>
  );
}

/** The code of a link, for a browser that the link cannot be opened in. */
function CodeForm() {
  const [code, setCode] = useState("");
  const [failure, setFailure] = useState<string>();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await call("POST", "/sign-in", { body: { code: code.trim().replace(/^.*#code=/, "") } });
      session.value = "in";
    } catch (error) {
      setFailure(failureWords(error));
    }
  };
  return (
    <form class="edit-form" onSubmit={(event) => void submit(event)}>
      <label>
        <span class="name">{words.signInCode}</span>
        <input
          value={code}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setCode(currentTarget.value)}
        />
      </label>
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={code.trim() === ""}>
          {words.signInTitle}
        </button>
      </div>
    </form>
  );
}
