import { expect, test } from "vitest";
import { withoutCredentials } from "./read-environment.js";

test.each([
  ["https://git.example/a/b.git", "https://git.example/a/b.git"],
  ["https://ada:secret@git.example/a/b.git", "https://git.example/a/b.git"],
  ["https://ghp_secret@git.example/a/b.git", "https://git.example/a/b.git"],
  ["https://ada:se@cret@git.example/a", "https://git.example/a"],
  ["https://ada:se/cret@git.example/a", "https://git.example/a"],
  ["https://ada:se?cr#et@git.example/a", "https://git.example/a"],
  ["https://git.example/a/b.git?access_token=secret#secret", "https://git.example/a/b.git"],
  ["https://git.example:8443/@scope/b", "https://git.example:8443/@scope/b"],
  ["https://[::1]:8443/@scope/b", "https://[::1]:8443/@scope/b"],
  ["https://git.example/@scope/b", "https://git.example/@scope/b"],
  ["ssh://git@git.example:22/a/b.git", "ssh://git.example:22/a/b.git"],
  ["git@git.example:a/b.git", "git@git.example:a/b.git"],
  ["ada:secret@git.example:a/b.git", "git.example:a/b.git"],
  ["/srv/git/b.git", "/srv/git/b.git"],
  ["C:\\git\\b", "C:\\git\\b"],
  ["", ""],
])("%s is told as %s", (remote, told) => {
  expect(withoutCredentials(remote)).toBe(told);
  expect(told).not.toMatch(/secret|cret/);
});
