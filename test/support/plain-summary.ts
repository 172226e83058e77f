import type { Reporter, TestModule } from "vitest/node";

/** Ends a test run with one plain line that any tool can read: `N passed, N failed, N skipped`. */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that could not be loaded has no tests to count.
      if (module.state() === "failed" && module.errors().length > 0) counts.failed += 1;
    }
    // The default reporter's summary is written in the same moment; this is to be the last line.
    setImmediate(() => console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`));
  }
}
