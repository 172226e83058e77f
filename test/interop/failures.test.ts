import { expect } from "vitest";
import type { ScriptedAnswer } from "../support/vendors/script.js";
import { scenario } from "./support/scenario.js";

interface Failure {
  readonly title: string;
  readonly answer: ScriptedAnswer;
  /** What the caller must be able to read. */
  readonly says: RegExp;
}

const failures: readonly Failure[] = [
  {
    title: "a vendor's 401",
    answer: { status: 401, error: { type: "invalid_api_key", message: "Incorrect API key provided" } },
    says: /401.*|API key/s,
  },
  {
    title: "a vendor's 400",
    answer: { status: 400, error: { type: "invalid_request_error", message: "This model does not exist" } },
    says: /This model does not exist/,
  },
  {
    title: "a web page in place of an answer",
    answer: { status: 404, body: ["<html><body>nothing here</body></html>"], headers: { "content-type": "text/html" } },
    says: /404/,
  },
];

for (const { title, answer, says } of failures) {
  scenario(
    `${title} is readable in the text, ends the run as an error, and the agent goes on`,
    { script: () => [answer, { text: "Recovered." }] },
    async (world, sdk) => {
      const agent = await sdk.createAgent(world.agentOptions());
      const run = await sdk.complete(agent, "Hello?");

      expect((await run.ended()).status).toBe("error");
      expect(run.text()).toMatch(says);
      expect(run.text()).toContain("scripted");
      expect(run.text()).not.toContain("vendor-key");
      const stored = (await world.storedRuns()).filter(({ status }) => status === "error");
      expect(stored.length).toBeGreaterThan(0);
      // A title and a detail for people, not a bare code.
      const words = JSON.stringify(stored.at(-1)?.error);
      expect(words).toMatch(says);
      expect(words).not.toMatch(/^"?\[/);

      const next = await sdk.complete(agent, "And now?");
      expect(await next.ended()).toMatchObject({ status: "finished", result: "Recovered." });
    },
  );
}

scenario(
  "what the SDK keeps of a failure reads as a title and a detail",
  {
    script: () => [{ status: 401, error: { type: "invalid_api_key", message: "Incorrect API key provided" } }],
  },
  async (world, sdk) => {
    const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Hello?");
    expect((await run.ended()).status).toBe("error");
    expect((await world.storedRuns()).at(-1)?.error).toMatch(/refused the API key[.:] scripted \(HTTP 401\)/);
  },
);

scenario(
  "a vendor's stream that is cut after some text keeps the text and ends the run in a state to go on from",
  {
    script: () => [{ text: "Half of a sen", ending: "cut" }, { text: "Whole." }, { text: "Whole.", ending: "cut" }],
  },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions());
    const run = await sdk.complete(agent, "Speak");
    expect(["error", "finished"]).toContain((await run.ended()).status);
    expect(run.text()).toContain("Half of a sen");
    const next = await sdk.complete(agent, "Go on");
    expect(await next.ended()).toMatchObject({ status: "finished", result: "Whole." });
  },
);
