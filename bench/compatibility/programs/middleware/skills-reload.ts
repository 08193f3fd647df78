/** Skills of a thread are loaded again when the state says so. */
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, FilesystemBackend, skillsMetadataValue } from "library";
import { fill, scratch } from "../../kit/scratch.ts";
import { scripted } from "../../kit/scripted-model.ts";

const skill = (description: string) => `---\nname: web\ndescription: ${description}\n---\nBody.\n`;

export default async function program() {
  const rootDir = scratch("skills-reload");
  fill(rootDir, { "skills/web/SKILL.md": skill("first words") });
  const model = scripted(() => "done");
  const agent = createDeepAgent({
    model,
    backend: new FilesystemBackend({ rootDir, virtualMode: true }),
    skills: ["/skills/"],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t" } };
  const input = { messages: [{ role: "user", content: "go" }] };
  const first = await agent.invoke(input, config);
  fill(rootDir, { "skills/web/SKILL.md": skill("second words") });
  await agent.invoke(input, config);
  await agent.invoke({ ...input, skillsMetadata: null }, config);
  const metadata = first.skillsMetadata?.map(({ name, description, path }) => ({ name, description, path }));
  return {
    seen: model.requests.map((one) => /(first|second) words/.exec(one.system)?.[0]),
    metadata,
    acceptsNull: skillsMetadataValue.safeParse(null).success,
    refusesText: skillsMetadataValue.safeParse("text").success,
  };
}
