/** One graph for every server: it repeats what it is told, waits, asks or fails. The copy of LangGraph is the caller's. */

/** `wait <ms>`, `ask`, `say <text>`, `fail`, `child <text>`, `note <text>`, or an echo. */
export function echoGraph({ langgraph, messages, FakeListChatModel }) {
  const { StateGraph, MessagesAnnotation, START, interrupt } = langgraph;
  const replying = async (text, config) => {
    const model = new FakeListChatModel({ responses: [text] });
    return { messages: [await model.invoke([new messages.HumanMessage(text)], config)] };
  };
  const lastText = (state) => String(state.messages.at(-1)?.content ?? "");
  const rest = (state) => lastText(state).split(" ").slice(1).join(" ");
  const child = new StateGraph(MessagesAnnotation)
    .addNode("inner", (state, config) => replying(`child: ${rest(state)}`, config))
    .addEdge(START, "inner")
    .compile();
  const words = { wait: "wait", ask: "ask", say: "say", fail: "fail", child: "child", note: "note" };
  return new StateGraph(MessagesAnnotation)
    .addNode("echo", (state, config) => replying(`echo: ${lastText(state)}`, config))
    .addNode("say", (state, config) => replying(rest(state), config))
    .addNode("wait", async (state, config) => {
      await pause(Number(rest(state)), config.signal);
      return await replying("done: slept", config);
    })
    .addNode("ask", async (_state, config) => {
      interrupt({ question: "May I?" });
      return await replying("done: asked", config);
    })
    .addNode("fail", () => {
      throw new Error("The graph was told to fail.");
    })
    .addNode("note", (state, config) => {
      config.writer?.({ note: rest(state) });
      return replying("noted", config);
    })
    .addNode("child", child)
    .addConditionalEdges(START, (state) => words[lastText(state).split(" ")[0]] ?? "echo")
    .compile();
}

function pause(ms, signal) {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(signal.reason);
    });
  });
}
