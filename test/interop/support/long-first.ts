import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Starts the file that mostly waits first, so that the others run beside it. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId }: TestSpecification) => (moduleId.includes("long-waits") ? 0 : 1);
    return (await super.sort(files)).sort((left, right) => weight(left) - weight(right));
  }
}
