import { expect, test } from "vitest";
import { saying, twoTenants } from "../http/two-tenants-for-tests.ts";

test.each(["SQLite", "Postgres"] as const)(
  "on %s, threads have titles, are found by words, archived, and put into the trash and back",
  async (place) => {
    const { alice, bob } = await twoTenants(place);
    const { body: thread } = await alice("POST", "/threads", {});
    const path = `/threads/${thread.thread_id}`;
    await alice("POST", `${path}/runs/wait`, saying("Compare event stores\nin detail"));
    expect((await alice("GET", path)).body.title).toBe("Compare event stores");
    expect((await alice("PATCH", path, { title: "  Stores\u202e " })).body.title).toBe("Stores");
    const idsOf = async (body: object) =>
      (await alice("POST", "/threads/search", body)).body.map(
        (each: { thread_id: string }) => each.thread_id,
      );
    expect(await idsOf({ text: "echo event" })).toEqual([thread.thread_id]);
    expect(await idsOf({ text: "echo cake" })).toEqual([]);
    await alice("PATCH", path, { archived: true });
    expect(await idsOf({ archived: false })).toEqual([]);
    for (const body of [{ trashed: true }, { title: "mine" }, { archived: false }])
      expect((await bob("PATCH", path, body)).status).toBe(404);
    expect((await bob("POST", "/threads/search", { text: "event" })).body).toEqual([]);

    const held = alice("POST", `${path}/runs/wait`, saying("wait 600000"));
    while ((await alice("GET", path)).body.status !== "busy");
    const trashed = (await alice("PATCH", path, { trashed: true })).body;
    expect((await held).status).toBe(200);
    expect(Date.parse(trashed.removed_at) - Date.parse(trashed.trashed_at)).toBeGreaterThan(29 * 86_400_000);
    expect(await idsOf({})).toEqual([]);
    expect(await idsOf({ trashed: true })).toEqual([thread.thread_id]);
    const back = (await alice("PATCH", path, { trashed: false })).body;
    expect(back).toMatchObject({ title: "Stores", archived: true });
    expect(back).not.toHaveProperty("trashed_at");
    expect(await idsOf({})).toEqual([thread.thread_id]);
  },
);
